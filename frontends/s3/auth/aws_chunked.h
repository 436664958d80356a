// The aws-chunked content coding ("Signature calculations for the Authorization header: transferring payload in
// multiple chunks"), signed and unsigned, with and without trailers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/s3/checksum/digest.h"
#include "frontends/s3/error.h"

namespace stoa::s3 {

// The receiver of decoded bytes. An error ends the request.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Outcome<void> write(std::span<const std::byte> data) = 0;
};

// The input of each chunk's signature; absent for the unsigned form.
struct ChunkSigning {
  Sha256Value key{};
  std::string date_time{};
  std::string scope{};      // "20130524/us-east-1/s3/aws4_request"
  std::string signature{};  // of the headers: the seed of the chain
};

class AwsChunkedDecoder {
 public:
  static constexpr std::size_t kLineBytesMax = 4096;  // a chunk header or a trailer
  static constexpr std::size_t kTrailersMax = 16;

  AwsChunkedDecoder(std::optional<ChunkSigning> signing, bool with_trailer)
      : signing_(std::move(signing)), with_trailer_(with_trailer) {}

  // Decodes the next bytes of the body. kInvalidRequest: broken framing; kSignatureDoesNotMatch; or the sink's refusal.
  Outcome<void> feed(std::span<const std::byte> raw, ByteSink& sink);
  // The body is over. kIncompleteBody: the last chunk, or the trailer, did not arrive.
  Outcome<void> finish();

  // Lower-case names; complete after finish().
  const std::vector<std::pair<std::string, std::string>>& trailers() const { return trailers_; }

 private:
  enum class State : std::uint8_t { kHeader, kData, kDataEnd, kTrailer, kDone };

  Outcome<void> on_line(std::string_view line);
  Outcome<void> on_header(std::string_view line);
  Outcome<void> on_trailer(std::string_view line);
  Outcome<void> check_chunk();
  Outcome<void> check_trailers();

  std::optional<ChunkSigning> signing_;
  bool with_trailer_;
  State state_ = State::kHeader;
  std::string line_;  // a line that arrives in pieces
  std::uint64_t chunk_left_ = 0;
  bool last_chunk_ = false;
  std::string chunk_signature_;
  Sha256 chunk_hash_;
  std::vector<std::pair<std::string, std::string>> trailers_;
  std::string trailer_signature_;
};

}  // namespace stoa::s3

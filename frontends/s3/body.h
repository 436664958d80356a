// Processing of a request's body: the transfer form is taken off, lengths are held, and announced hashes are
// compared. All in one pass over each block while it is in the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "frontends/s3/auth/aws_chunked.h"
#include "frontends/s3/checksum/checksum.h"
#include "frontends/s3/checksum/digest.h"
#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

// The headers' promises about the body.
struct BodyPlan {
  std::optional<Sha256Value> sha256{};  // x-amz-content-sha256 as a value
  bool aws_chunked = false;
  bool with_trailer = false;
  std::optional<ChunkSigning> signing{};
  std::optional<std::uint64_t> length{};  // of the decoded bytes; absent: transfer-encoding chunked
  std::optional<Md5Value> content_md5{};
  std::optional<Algorithm> algorithm{};   // of the additional checksum
  std::optional<std::string> checksum{};  // its expected raw value; absent: in the trailer, or only computed
  bool checksum_in_trailer = false;
};

// Reads lengths, Content-MD5 and x-amz-checksum headers. `payload_hash` is the value of x-amz-content-sha256 (or
// UNSIGNED-PAYLOAD); `signing` is used when it asks for signed chunks.
struct BodyExpectation {
  bool needs_length = false;          // a body must be announced: kMissingContentLength
  bool checksums_are_of_body = true;  // not so for CompleteMultipartUpload, whose hashes are of the whole object
};
Outcome<BodyPlan> plan_body(const Request& request, std::string_view payload_hash, ChunkSigning signing,
                            BodyExpectation expectation);

struct BodyDigest {
  std::uint64_t bytes = 0;
  Md5Value md5{};
  std::optional<Checksum> checksum{};
};

class BodyReader final : private ByteSink {
 public:
  // `want_md5`: compute it even if the client sent none (it is the ETag). `limit`: kEntityTooLarge beyond.
  BodyReader(BodyPlan plan, bool want_md5, std::uint64_t limit, ByteSink& sink);

  Outcome<void> feed(std::span<const std::byte> raw);
  // kIncompleteBody, kBadDigest, kXAmzContentSha256Mismatch, ...
  Outcome<BodyDigest> finish();
  bool has_length() const { return plan_.length.has_value(); }

 private:
  Outcome<void> write(std::span<const std::byte> data) override;
  Outcome<void> read_trailer();

  BodyPlan plan_;
  std::uint64_t limit_;
  ByteSink& sink_;
  std::optional<AwsChunkedDecoder> decoder_;
  std::optional<Md5> md5_;
  std::optional<Sha256> sha256_;
  std::optional<ChecksumStream> checksum_;
  std::uint64_t bytes_ = 0;
};

}  // namespace stoa::s3

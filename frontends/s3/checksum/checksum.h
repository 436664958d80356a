// The additional checksums of S3 ("Checking object integrity"): one of five algorithms chosen by the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "frontends/s3/checksum/digest.h"

namespace stoa::s3 {

enum class Algorithm : std::uint8_t { kCrc32 = 1, kCrc32c = 2, kCrc64Nvme = 3, kSha1 = 4, kSha256 = 5 };
inline constexpr Algorithm kAlgorithms[] = {Algorithm::kCrc32, Algorithm::kCrc32c, Algorithm::kCrc64Nvme,
                                            Algorithm::kSha1, Algorithm::kSha256};

enum class ChecksumType : std::uint8_t { kFullObject = 1, kComposite = 2 };

std::string_view name_of(Algorithm algorithm);     // "CRC32C"
std::string_view header_of(Algorithm algorithm);   // "x-amz-checksum-crc32c"
std::string_view element_of(Algorithm algorithm);  // "ChecksumCRC32C"
std::string_view name_of(ChecksumType type);       // "FULL_OBJECT"
std::size_t bytes_of(Algorithm algorithm);
std::optional<Algorithm> algorithm_by_name(std::string_view name);      // any case
std::optional<Algorithm> algorithm_by_header(std::string_view header);  // any case
std::optional<ChecksumType> type_by_name(std::string_view name);

// The stored checksum of an object: raw bytes (CRCs big-endian), and for COMPOSITE the number of its parts.
struct Checksum {
  Algorithm algorithm = Algorithm::kCrc32;
  ChecksumType type = ChecksumType::kFullObject;
  std::string value{};
  std::uint32_t parts = 0;  // of a composite
  bool operator==(const Checksum&) const = default;

  std::string text() const;  // base64, "-N" behind a composite
};

// The raw bytes of a base64 value of the right length.
std::optional<std::string> parse_checksum(Algorithm algorithm, std::string_view base64);

class ChecksumStream {
 public:
  explicit ChecksumStream(Algorithm algorithm);
  void update(std::span<const std::byte> data);
  std::string finish();  // raw bytes
  Algorithm algorithm() const { return algorithm_; }

 private:
  Algorithm algorithm_;
  std::variant<std::uint64_t, Sha1, Sha256> state_{std::uint64_t{0}};
};

// The checksum of a multipart object from those of its parts. Absent when the algorithm does not allow the type.
struct PartChecksum {
  std::string value;
  std::uint64_t bytes = 0;
};
bool allowed(Algorithm algorithm, ChecksumType type);
ChecksumType default_type(Algorithm algorithm);  // of multipart uploads
std::optional<Checksum> join_checksums(Algorithm algorithm, ChecksumType type, std::span<const PartChecksum> parts);

}  // namespace stoa::s3

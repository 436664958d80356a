#include "frontends/s3/checksum/checksum.h"

#include <array>

#include "base/crc32c.h"
#include "frontends/s3/checksum/crc.h"

namespace stoa::s3 {
namespace {

struct Row {
  Algorithm algorithm;
  std::string_view name, header, element;
  std::size_t bytes;
};
constexpr std::array<Row, 5> kRows{{
    {Algorithm::kCrc32, "CRC32", "x-amz-checksum-crc32", "ChecksumCRC32", 4},
    {Algorithm::kCrc32c, "CRC32C", "x-amz-checksum-crc32c", "ChecksumCRC32C", 4},
    {Algorithm::kCrc64Nvme, "CRC64NVME", "x-amz-checksum-crc64nvme", "ChecksumCRC64NVME", 8},
    {Algorithm::kSha1, "SHA1", "x-amz-checksum-sha1", "ChecksumSHA1", 20},
    {Algorithm::kSha256, "SHA256", "x-amz-checksum-sha256", "ChecksumSHA256", 32},
}};
const Row& row(Algorithm algorithm) {
  return kRows[static_cast<std::size_t>(algorithm) - 1];
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[bytes - 1 - i] = static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::span<const std::uint8_t> raw(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return row(algorithm).name;
}
std::string_view header_of(Algorithm algorithm) {
  return row(algorithm).header;
}
std::string_view element_of(Algorithm algorithm) {
  return row(algorithm).element;
}
std::size_t bytes_of(Algorithm algorithm) {
  return row(algorithm).bytes;
}
std::string_view name_of(ChecksumType type) {
  return type == ChecksumType::kComposite ? "COMPOSITE" : "FULL_OBJECT";
}

std::optional<Algorithm> algorithm_by_name(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (equal_ignoring_case(candidate.name, name)) return candidate.algorithm;
  }
  return std::nullopt;
}

std::optional<Algorithm> algorithm_by_header(std::string_view header) {
  for (const Row& candidate : kRows) {
    if (equal_ignoring_case(candidate.header, header)) return candidate.algorithm;
  }
  return std::nullopt;
}

std::optional<ChecksumType> type_by_name(std::string_view name) {
  if (name == "FULL_OBJECT") return ChecksumType::kFullObject;
  if (name == "COMPOSITE") return ChecksumType::kComposite;
  return std::nullopt;
}

std::string Checksum::text() const {
  std::string out = to_base64(raw(value));
  if (type == ChecksumType::kComposite) out += "-" + std::to_string(parts);
  return out;
}

std::optional<std::string> parse_checksum(Algorithm algorithm, std::string_view base64) {
  auto value = from_base64(base64);
  if (!value || value->size() != bytes_of(algorithm)) return std::nullopt;
  return value;
}

ChecksumStream::ChecksumStream(Algorithm algorithm) : algorithm_(algorithm) {
  if (algorithm == Algorithm::kSha1) state_.emplace<Sha1>();
  if (algorithm == Algorithm::kSha256) state_.emplace<Sha256>();
}

void ChecksumStream::update(std::span<const std::byte> data) {
  switch (algorithm_) {
    case Algorithm::kCrc32: {
      auto& crc = std::get<std::uint64_t>(state_);
      crc = crc32(data, static_cast<std::uint32_t>(crc));
      break;
    }
    case Algorithm::kCrc32c: {
      auto& crc = std::get<std::uint64_t>(state_);
      crc = crc32c(data, static_cast<std::uint32_t>(crc));
      break;
    }
    case Algorithm::kCrc64Nvme: {
      auto& crc = std::get<std::uint64_t>(state_);
      crc = crc64_nvme(data, crc);
      break;
    }
    case Algorithm::kSha1:
      std::get<Sha1>(state_).update(data);
      break;
    case Algorithm::kSha256:
      std::get<Sha256>(state_).update(data);
      break;
  }
}

std::string ChecksumStream::finish() {
  const auto text = [](auto value) { return std::string(reinterpret_cast<const char*>(value.data()), value.size()); };
  if (auto* sha1 = std::get_if<Sha1>(&state_)) return text(sha1->finish());
  if (auto* sha256 = std::get_if<Sha256>(&state_)) return text(sha256->finish());
  return big_endian(std::get<std::uint64_t>(state_), bytes_of(algorithm_));
}

bool allowed(Algorithm algorithm, ChecksumType type) {
  switch (algorithm) {
    case Algorithm::kCrc32:
    case Algorithm::kCrc32c:
      return true;
    case Algorithm::kCrc64Nvme:
      return type == ChecksumType::kFullObject;
    case Algorithm::kSha1:
    case Algorithm::kSha256:
      return type == ChecksumType::kComposite;
  }
  return false;
}

ChecksumType default_type(Algorithm algorithm) {
  return algorithm == Algorithm::kCrc64Nvme ? ChecksumType::kFullObject : ChecksumType::kComposite;
}

std::optional<Checksum> join_checksums(Algorithm algorithm, ChecksumType type, std::span<const PartChecksum> parts) {
  if (!allowed(algorithm, type)) return std::nullopt;
  if (type == ChecksumType::kComposite) {
    ChecksumStream whole(algorithm);
    for (const PartChecksum& part : parts) whole.update(std::as_bytes(std::span(part.value)));
    return Checksum{algorithm, type, whole.finish(), static_cast<std::uint32_t>(parts.size())};
  }
  std::uint64_t crc = 0;
  for (const PartChecksum& part : parts) {
    const std::uint64_t next = from_big_endian(part.value);
    if (algorithm == Algorithm::kCrc64Nvme) {
      crc = crc64_nvme_join(crc, next, part.bytes);
    } else if (algorithm == Algorithm::kCrc32) {
      crc = crc32_join(static_cast<std::uint32_t>(crc), static_cast<std::uint32_t>(next), part.bytes);
    } else {
      crc = crc32c_join(static_cast<std::uint32_t>(crc), static_cast<std::uint32_t>(next), part.bytes);
    }
  }
  return Checksum{algorithm, type, big_endian(crc, bytes_of(algorithm)), 0};
}

}  // namespace stoa::s3

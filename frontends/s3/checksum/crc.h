// The cyclic redundancy checks of S3, and how those of two pieces make that of the whole (FULL_OBJECT of multipart).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa::s3 {

// Each continues `crc` (0 to begin) over `data`.
std::uint32_t crc32(std::span<const std::byte> data, std::uint32_t crc = 0);       // ISO-HDLC, of zlib
std::uint64_t crc64_nvme(std::span<const std::byte> data, std::uint64_t crc = 0);  // NVM Express base specification
// CRC-32C is base/crc32c.h.

// The check of A and B joined, from those of A and B and the length of B.
std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes);
std::uint32_t crc32c_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes);
std::uint64_t crc64_nvme_join(std::uint64_t a, std::uint64_t b, std::uint64_t b_bytes);

}  // namespace stoa::s3

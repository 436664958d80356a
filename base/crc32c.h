// CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum on everything stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa {

// Continues `crc` (0 to begin) over `data`. Uses the processor's instruction where present.
std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc = 0);

// From checksums alone, without the bytes. Cost grows with the bits of the length, not with the length.
// Sum of two consecutive runs of bytes.
std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);
// Sum of bytes that are followed by zeros.
std::uint32_t crc32c_zeros(std::uint32_t crc, std::uint64_t zeros);

}  // namespace stoa

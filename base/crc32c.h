// CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum on everything stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa {

// Continues `crc` (0 to begin) over `data`. Uses the processor's instruction where present.
std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc = 0);

}  // namespace stoa

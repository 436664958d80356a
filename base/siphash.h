// SipHash-2-4 (Aumasson and Bernstein): the keyed checksum of file handles and continuation tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa {

using SipKey = std::array<std::uint64_t, 2>;

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> data);

}  // namespace stoa

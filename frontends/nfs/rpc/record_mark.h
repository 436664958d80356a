// Record marking on TCP (RFC 5531 section 11): each fragment begins with its length and whether it is the last one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frontends/nfs/rpc/xdr.h"
#include "frontends/wire/framer.h"

namespace stoa::rpc {

inline constexpr std::size_t kMarkBytes = 4;
inline constexpr std::uint32_t kLastFragment = 0x8000'0000;

// The begin of a record's bulk payload: as wire::Framer::payload_offset.
using PayloadOffset = std::size_t (*)(std::span<const std::byte> prefix);

inline wire::Framer record_framer(PayloadOffset payload_offset) {
  return {.header_bytes = kMarkBytes,
          .read = [](const std::byte* header) -> wire::Framer::Piece {
            const std::uint32_t mark = load_be32(header);
            return {.bytes = mark & ~kLastFragment, .last = (mark & kLastFragment) != 0};
          },
          .payload_offset = payload_offset};
}

}  // namespace stoa::rpc

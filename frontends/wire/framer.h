// Cutting of a protocol's byte stream into records: each piece of a record has a header of fixed size.
#pragma once

#include <cstddef>
#include <span>

namespace stoa::wire {

struct Framer {
  static constexpr std::size_t kHeaderBytesMax = 16;
  struct Piece {
    std::size_t bytes;  // behind the header
    bool last;          // of its record
  };

  std::size_t header_bytes;
  // `header` has header_bytes.
  Piece (*read)(const std::byte* header);
  // The begin of the bulk payload in a record that begins with `prefix` (it is then received page-aligned); 0:
  // unknown. May be null.
  std::size_t (*payload_offset)(std::span<const std::byte> prefix) = nullptr;
};

}  // namespace stoa::wire

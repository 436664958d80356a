// Where the bytes of a file are: extents of blobs, in file order, without overlap. What no extent covers reads as zeros.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/data/blob_store.h"
#include "core/kv/codec.h"

namespace stoa::core {

struct Extent {
  std::uint64_t file_offset = 0;
  std::uint64_t length = 0;
  BlobId blob = kNoBlob;
  std::uint64_t blob_offset = 0;
  bool operator==(const Extent&) const = default;
  std::uint64_t end() const { return file_offset + length; }
};

struct Layout {
  std::vector<Extent> extents;
  bool operator==(const Layout&) const = default;

  void encode(Encoder& out) const;
  // False: damaged bytes.
  bool decode(Decoder& in);
};

}  // namespace stoa::core

// The layout of a file's bytes: extents of blobs, in file order, without overlap. Ranges without an extent read as
// zeros.
//
// An extent may reach beyond the end of the file: it then holds room to grow, and those bytes of its blob are zeros.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/blob/blob_store.h"
#include "core/kv/codec.h"

namespace stoa::core {

struct Extent {
  std::uint64_t file_offset = 0;
  std::uint64_t length = 0;
  BlobId blob = kNoBlob;
  std::uint64_t blob_offset = 0;
  bool shared = false;            // other extents may name the same bytes: they are never written in place
  std::uint64_t birth_epoch = 0;  // snapshots by epoch: that of the volume when the extent was made
  bool operator==(const Extent&) const = default;
  std::uint64_t end() const { return file_offset + length; }
};

// A run of a file's bytes: of a blob, or, with kNoBlob, a hole.
struct Piece {
  std::uint64_t file_offset = 0;
  std::uint64_t length = 0;
  BlobId blob = kNoBlob;
  std::uint64_t blob_offset = 0;
  bool shared = false;
  bool hole() const { return blob == kNoBlob; }
  std::uint64_t end() const { return file_offset + length; }
  bool operator==(const Piece&) const = default;
};

inline constexpr std::size_t kExtentsMax = 32768;  // of one file

struct Layout {
  std::vector<Extent> extents;
  bool operator==(const Layout&) const = default;
  bool empty() const { return extents.empty(); }

  // The range [offset, offset + length) as pieces in order, holes included; none of them is empty.
  std::vector<Piece> map(std::uint64_t offset, std::uint64_t length) const;

  // Adds an extent where there is none.
  void insert(const Extent& extent);

  // Takes the range out. The remains of extents that it cuts stay. `change` receives the change in the number of
  // extents of each blob (a cut in the middle makes two of one), `gone` each piece that was taken out.
  struct Change {
    BlobId blob;
    std::int32_t delta;
  };
  struct Cut {
    std::vector<Change> changes;
    std::vector<Piece> gone;
  };
  Cut cut(std::uint64_t offset, std::uint64_t length);

  void encode(Encoder& out) const;
  // False: damaged bytes.
  bool decode(Decoder& in);
};

// Both layouts of one file seen as one; they do not overlap.
std::vector<Piece> map_both(const Layout& a, const Layout& b, std::uint64_t offset, std::uint64_t length);

}  // namespace stoa::core

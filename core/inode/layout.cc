#include "core/inode/layout.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kSharedFlag = 1;
constexpr std::size_t kExtentBytesMin = 13;  // encoded: no count can be larger than the bytes allow

// The first extent that ends behind `offset`.
template <class Extents>
auto first_behind(Extents& extents, std::uint64_t offset) {
  return std::upper_bound(extents.begin(), extents.end(), offset,
                          [](std::uint64_t at, const Extent& extent) { return at < extent.end(); });
}

Piece part_of(const Extent& extent, std::uint64_t from, std::uint64_t to) {
  return {from, to - from, extent.blob, extent.blob_offset + (from - extent.file_offset), extent.shared};
}

void append_pieces(const Layout& layout, std::uint64_t offset, std::uint64_t end, std::vector<Piece>& out) {
  if (offset == end) return;  // of an extent around it, too, there is no piece
  for (auto it = first_behind(layout.extents, offset); it != layout.extents.end() && it->file_offset < end; ++it) {
    out.push_back(part_of(*it, std::max(offset, it->file_offset), std::min(end, it->end())));
  }
}

std::vector<Piece> with_holes(std::vector<Piece>&& covered, std::uint64_t offset, std::uint64_t end) {
  if (covered.size() == 1 && covered[0].file_offset == offset && covered[0].end() == end) return std::move(covered);
  std::vector<Piece> all;
  all.reserve(covered.size() * 2 + 1);
  for (const Piece& piece : covered) {
    STOA_ASSERT(piece.file_offset >= offset, "pieces of a file do not overlap");
    if (piece.file_offset > offset) all.push_back({offset, piece.file_offset - offset});
    all.push_back(piece);
    offset = piece.end();
  }
  if (offset < end) all.push_back({offset, end - offset});
  return all;
}

}  // namespace

std::vector<Piece> Layout::map(std::uint64_t offset, std::uint64_t length) const {
  return map_both(*this, {}, offset, length);
}

std::vector<Piece> map_both(const Layout& a, const Layout& b, std::uint64_t offset, std::uint64_t length) {
  std::vector<Piece> covered;
  append_pieces(a, offset, offset + length, covered);
  if (!b.empty()) {
    append_pieces(b, offset, offset + length, covered);
    std::ranges::sort(covered, {}, &Piece::file_offset);
  }
  return with_holes(std::move(covered), offset, offset + length);
}

void Layout::insert(const Extent& extent) {
  STOA_ASSERT(extent.length > 0, "an extent has bytes");
  STOA_ASSERT(extent.blob != kNoBlob, "an extent lies in a blob");
  STOA_ASSERT(extent.end() > extent.file_offset, "an extent ends within 2^64 bytes");
  const auto at = first_behind(extents, extent.file_offset);
  STOA_ASSERT(at == extents.end() || at->file_offset >= extent.end(), "extents do not overlap");
  extents.insert(at, extent);
}

Layout::Cut Layout::cut(std::uint64_t offset, std::uint64_t length) {
  Cut cut;
  const std::uint64_t end = offset + length;
  STOA_ASSERT(end >= offset, "a cut ends within 2^64 bytes");
  if (length == 0) return cut;  // or it would make two of an extent around it
  std::vector<Extent> kept;
  kept.reserve(extents.size() + 1);
  for (const Extent& extent : extents) {
    if (extent.end() <= offset || extent.file_offset >= end) {
      kept.push_back(extent);
      continue;
    }
    std::int32_t delta = -1;
    if (extent.file_offset < offset) {
      Extent head = extent;
      head.length = offset - extent.file_offset;
      kept.push_back(head);
      ++delta;
    }
    if (extent.end() > end) {
      Extent tail = extent;
      tail.file_offset = end;
      tail.length = extent.end() - end;
      tail.blob_offset += end - extent.file_offset;
      kept.push_back(tail);
      ++delta;
    }
    if (delta != 0) cut.changes.push_back({extent.blob, delta});
    cut.gone.push_back(part_of(extent, std::max(offset, extent.file_offset), std::min(end, extent.end())));
  }
  STOA_ASSERT(kept.size() <= extents.size() + 1, "a cut makes two of one extent at most");
  extents = std::move(kept);
  return cut;
}

void Layout::encode(Encoder& out) const {
  STOA_ASSERT(extents.size() <= kExtentsMax, "a file has a limited number of extents");
  out.put_varint(extents.size());
  for (const Extent& extent : extents) {
    out.put_varint(extent.file_offset).put_varint(extent.length).put(extent.blob).put_varint(extent.blob_offset);
    out.put(extent.shared ? kSharedFlag : std::uint8_t{0}).put_varint(extent.birth_epoch);
  }
}

bool Layout::decode(Decoder& in) {
  const std::uint64_t count = in.get_varint();
  if (count > in.rest().size() / kExtentBytesMin || count > kExtentsMax) return false;
  extents.clear();
  extents.reserve(count);
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Extent extent;
    extent.file_offset = in.get_varint();
    extent.length = in.get_varint();
    extent.blob = in.get<BlobId>();
    extent.blob_offset = in.get_varint();
    extent.shared = (in.get<std::uint8_t>() & kSharedFlag) != 0;
    extent.birth_epoch = in.get_varint();
    if (extent.length == 0 || extent.file_offset < end || extent.end() < extent.file_offset) return false;
    if (extent.blob == kNoBlob) return false;
    end = extent.end();
    extents.push_back(extent);
  }
  return in.ok();
}

}  // namespace stoa::core

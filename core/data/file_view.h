// A file as in-place I/O sees it: the committed layout merged with later writes.
#pragma once

#include "core/inode/node.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// All want the node's lock held.

// kStale, kIsDirectory, kInvalid (a symlink or device).
Status require_regular(const Node& node);
// Whether the content that readers see is in family inline.
inline bool reads_inline(const Node& node) {
  return node.record.has(kContentInline) && (node.writing == nullptr || !node.writing->replaces_inline);
}
// Whether its content is in blobs, or is about to be: a write in progress may not have them yet.
inline bool has_blobs(const Node& node) {
  return !node.record.layout.empty() ||
         (node.writing != nullptr && (!node.writing->fresh.empty() || node.writing->under_way > 0));
}
std::vector<Piece> map_file(const Node& node, std::uint64_t offset, std::uint64_t length);
// The ends of the extents around a hole: nothing is between `floor` and `ceiling`.
struct Neighbours {
  std::uint64_t floor = 0;
  std::uint64_t ceiling = kFileBytesMax;
};
Neighbours neighbours(const Node& node, std::uint64_t offset);

}  // namespace stoa::core

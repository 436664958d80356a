#include "core/data/truncate.h"

#include "core/data/content.h"

namespace stoa::core {

Status stage_truncate(Tree& tree, MetaTxn& txn, const NodeRef& node, Inode& next, std::uint64_t size) {
  const auto delta = static_cast<std::int64_t>(size) - static_cast<std::int64_t>(next.size);
  if (delta > 0) {
    STOA_CHECK_OK(txn.reserve(node->account, {.bytes = delta}));
  } else if (delta < 0) {
    txn.release(node->account, {.bytes = -delta});
  }
  if (next.has(kContentInline)) {
    STOA_TRY(bytes, load_inline(tree.kv, next.id));
    if (size == 0) {
      stage_no_inline(txn, next.id);
      next.flags &= static_cast<std::uint8_t>(~kContentInline);
    } else if (size < bytes.size()) {
      stage_inline(txn, next.id, std::string_view(bytes).substr(0, size));
    }
    // Growing leaves the inline bytes short; what is missing reads as zeros.
  } else {
    auto& extents = next.layout.extents;
    while (!extents.empty() && extents.back().file_offset >= size) {
      txn.reference(extents.back().blob, -1);
      next.allocated -= std::min(next.allocated, extents.back().length);
      extents.pop_back();
    }
    if (!extents.empty() && extents.back().end() > size) {
      Extent& last = extents.back();
      const std::uint64_t kept = size - last.file_offset;
      STOA_CHECK_OK(tree.blobs.punch(last.blob, last.blob_offset + kept, last.length - kept));
      next.allocated -= std::min(next.allocated, last.length - kept);
      last.length = kept;
    }
  }
  next.size = size;
  ++next.data_version;
  return {};
}

}  // namespace stoa::core

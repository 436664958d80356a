#include "core/data/file_view.h"

#include <algorithm>

namespace stoa::core {

Status require_regular(const Node& node) {
  STOA_CHECK_OK(require_live(node));
  if (node.record.is_directory()) return fail(Errc::kIsDirectory);
  if (node.record.type != FileType::kRegular) return fail(Errc::kInvalid);
  return {};
}

std::vector<Piece> map_file(const Node& node, std::uint64_t offset, std::uint64_t length) {
  if (node.writing == nullptr) return node.record.layout.map(offset, length);
  return map_both(node.record.layout, node.writing->fresh, offset, length);
}

Neighbours neighbours(const Node& node, std::uint64_t offset) {
  Neighbours found;
  const auto look = [&](const Layout& layout) {
    for (const Extent& extent : layout.extents) {
      if (extent.end() <= offset) found.floor = std::max(found.floor, extent.end());
      if (extent.file_offset > offset) {
        found.ceiling = std::min(found.ceiling, extent.file_offset);
        break;
      }
    }
  };
  look(node.record.layout);
  if (node.writing != nullptr) look(node.writing->fresh);
  return found;
}

}  // namespace stoa::core

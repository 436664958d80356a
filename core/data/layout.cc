#include "core/data/layout.h"

namespace stoa::core {

void Layout::encode(Encoder& out) const {
  out.put_varint(extents.size());
  for (const Extent& extent : extents) {
    out.put_varint(extent.file_offset).put_varint(extent.length).put(extent.blob).put_varint(extent.blob_offset);
  }
}

bool Layout::decode(Decoder& in) {
  const std::uint64_t count = in.get_varint();
  if (count > in.rest().size()) return false;
  extents.clear();
  extents.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    Extent extent;
    extent.file_offset = in.get_varint();
    extent.length = in.get_varint();
    extent.blob = in.get<BlobId>();
    extent.blob_offset = in.get_varint();
    extents.push_back(extent);
  }
  return in.ok();
}

}  // namespace stoa::core

#include "core/namespace/object_meta.h"

#include "core/kv/keys.h"

namespace stoa::core {

void stage_meta(MetaTxn& txn, Inode& next, std::string_view bytes) {
  Encoder value;
  value.put(next.data_version);
  value.bytes().append(bytes);
  txn.batch().put(Family::kXattr, keys::id_name(next.id, keys::kMetaXattr), value.bytes());
  next.flags |= kHasXattrs;
}

void stage_no_meta(MetaTxn& txn, FileId id) {
  txn.batch().remove(Family::kXattr, keys::id_name(id, keys::kMetaXattr));
}

Result<ObjectMeta> decode_meta(FileId id, std::string_view value) {
  Decoder in(value);
  ObjectMeta meta;
  meta.described = {id, in.get<std::uint64_t>()};
  if (!in.ok()) return fail(Errc::kCorrupt, "object meta");
  meta.bytes = std::string(in.rest());
  return meta;
}

Result<std::optional<ObjectMeta>> load_meta(Tree& tree, const Inode& inode) {
  if (!inode.has(kHasXattrs)) return std::nullopt;
  std::string value;
  STOA_TRY(found, tree.kv.get(Family::kXattr, keys::id_name(inode.id, keys::kMetaXattr), &value));
  if (!found) return std::nullopt;
  STOA_TRY(meta, decode_meta(inode.id, value));
  return meta;
}

}  // namespace stoa::core

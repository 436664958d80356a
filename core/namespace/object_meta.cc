#include "core/namespace/object_meta.h"

#include "core/data/data_state.h"
#include "core/inode/inode_usage.h"
#include "core/kv/keys.h"

namespace stoa::core {

namespace {

std::uint64_t put_meta(MetaTxn& txn, Inode& next, std::string_view bytes) {
  Encoder value;
  value.put(next.data_version);
  value.bytes().append(bytes);
  txn.records().put_xattr(next.id, keys::kMetaXattr, value.bytes());
  next.flags |= kHasXattrs;
  return attribute_bytes(keys::kMetaXattr, value.bytes());
}

}  // namespace

void stage_first_meta(MetaTxn& txn, Inode& made, std::string_view bytes) {
  made.attribute_bytes += put_meta(txn, made, bytes);
}

Status stage_meta(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, Inode& next, std::string_view bytes) {
  std::uint64_t before = 0;
  bool there = false;
  if (next.has(kHasXattrs)) {
    std::string value;
    STOA_TRY(found, volume.kv.get(Family::kXattr, keys::id_name(next.id, keys::kMetaXattr), &value));
    there = found;
    if (found) before = attribute_bytes(keys::kMetaXattr, value);
  }
  if (bytes.empty() && !there) return {};
  if (!bytes.empty()) return txn.change_attribute_bytes(node, next, before, put_meta(txn, next, bytes));
  txn.records().remove_xattr(next.id, keys::kMetaXattr);
  return txn.change_attribute_bytes(node, next, before, 0);
}

Result<ObjectMeta> decode_meta(FileId id, std::string_view value) {
  Decoder in(value);
  ObjectMeta meta;
  meta.described = {id, in.get<std::uint64_t>()};
  if (!in.ok()) return fail(Errc::kCorrupt, "object meta");
  meta.bytes = std::string(in.rest());
  return meta;
}

Result<std::optional<ObjectMeta>> load_meta(const VolumeView& volume, const Inode& inode) {
  if (!inode.has(kHasXattrs)) return std::nullopt;
  auto value = volume.data->metas.find(inode.id, inode.change);
  if (value == nullptr) {
    std::string read;
    STOA_TRY(found, volume.kv.get(Family::kXattr, keys::id_name(inode.id, keys::kMetaXattr), &read));
    if (!found) return std::nullopt;
    value = std::make_shared<const std::string>(std::move(read));
    volume.data->metas.keep(inode.id, inode.change, value);
  }
  STOA_TRY(meta, decode_meta(inode.id, *value));
  return meta;
}

}  // namespace stoa::core

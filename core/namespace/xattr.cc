#include "core/access/access.h"
#include "core/inode/inode_usage.h"
#include "core/kv/keys.h"
#include "core/recycle/bin.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr std::size_t kXattrsMax = 1000;  // names of one file

Status check_name(std::string_view name) {
  if (name.empty() || name.front() == keys::kPrivateXattr || name.find('\0') != std::string_view::npos) {
    return fail(Errc::kInvalid, "attribute name");
  }
  if (name.size() > kXattrNameBytesMax) return fail(Errc::kNameTooLong);
  return {};
}

Result<NodeRef> readable(const VolumeView& volume, const OpContext& ctx, FileId id) {
  STOA_TRY(node, reach(volume, ctx, id));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(require(ctx, node->record, kRightReadXattrs));
  return node;
}

Result<XattrChangeReply> change(VolumeContext& volume, const OpContext& ctx, FileId id, std::string_view name,
                                std::optional<std::string_view> value, XattrMode mode) {
  STOA_CHECK_OK(check_name(name));
  if (value && value->size() > kXattrValueBytesMax) return fail(Errc::kTooLarge);
  STOA_TRY(node, reach(volume, ctx, id));
  return run_mutation(volume, ctx, [&](CommitTicket& ticket) -> Result<XattrChangeReply> {
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_live(*node));
    STOA_CHECK_OK(require(ctx, node->record, kRightWriteXattrs));
    STOA_CHECK_OK(require_changeable(volume, *node));
    const std::string key = keys::id_name(id, name);
    std::string present;
    STOA_TRY(exists, volume.kv.get(Family::kXattr, key, &present));
    if (!exists && (!value || mode == XattrMode::kReplace)) return fail(Errc::kNoAttribute);
    if (exists && value && mode == XattrMode::kCreate) return fail(Errc::kExists);
    if (!exists) {
      std::size_t count = 0;
      const std::string lower = keys::id_key(id);
      const auto it = volume.kv.scan(Family::kXattr, lower, keys::behind_prefix(lower));
      for (; it->valid() && count <= kXattrsMax; it->next()) ++count;
      if (count >= kXattrsMax) return fail(Errc::kNoSpace, "too many extended attributes");
    }
    MetaTxn txn(volume, ctx);
    XattrChangeReply reply{node->record.before(), {}};
    Inode next = node->record;
    STOA_CHECK_OK(txn.change_attribute_bytes(node, next, exists ? attribute_bytes(name, present) : 0,
                                             value ? attribute_bytes(name, *value) : 0));
    if (value) {
      txn.records().put_xattr(id, name, *value);
      next.flags |= kHasXattrs;
    } else {
      txn.records().remove_xattr(id, name);
    }
    next.keep();
    next.touch(txn.now());
    reply.attr = next.attributes();
    txn.put_inode(node, std::move(next));
    txn.note({.kind = ChangeKind::kXattr, .id = id, .name = name});
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  });
}

}  // namespace

Result<GetXattrReply> get_xattr(const VolumeView& volume, const OpContext& ctx, const GetXattrRequest& req) {
  STOA_CHECK_OK(check_name(req.name));
  STOA_TRY(node, readable(volume, ctx, req.id));
  GetXattrReply reply;
  STOA_TRY(found, volume.kv.get(Family::kXattr, keys::id_name(node->id, req.name), &reply.value));
  if (!found) return fail(Errc::kNoAttribute);
  return reply;
}

Result<XattrChangeReply> set_xattr(VolumeContext& volume, const OpContext& ctx, const SetXattrRequest& req) {
  return change(volume, ctx, req.id, req.name, req.value, req.mode);
}

Result<XattrChangeReply> remove_xattr(VolumeContext& volume, const OpContext& ctx, const RemoveXattrRequest& req) {
  return change(volume, ctx, req.id, req.name, std::nullopt, XattrMode::kSet);
}

Result<ListXattrsReply> list_xattrs(const VolumeView& volume, const OpContext& ctx, const ListXattrsRequest& req) {
  STOA_TRY(node, readable(volume, ctx, req.id));
  ListXattrsReply reply;
  const std::string lower = keys::id_key(node->id);
  const auto it = volume.kv.scan(Family::kXattr, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    const std::string_view name = keys::after_id(it->key());
    if (name.front() != keys::kPrivateXattr) reply.names.emplace_back(name);
  }
  STOA_CHECK_OK(it->status());
  return reply;
}

}  // namespace stoa::core

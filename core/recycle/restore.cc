#include "core/recycle/restore.h"

#include "core/access/access.h"
#include "core/api/registry.h"
#include "core/inode/posix_name.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/links/key_path.h"
#include "core/recycle/deleted_below.h"
#include "core/recycle/origin.h"
#include "core/txn/operations.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr int kDirectoriesMax = 100;  // that lie in a bin themselves, and are restored with the item
constexpr int kItemLooksMax = 1000;   // at an item that others take out meanwhile

bool is_gone(const Error& why) {
  return why.code == Errc::kStale || why.code == Errc::kNotFound;
}

Status may_restore(VolumeContext& volume, const OpContext& ctx, const RestoreRequest& req, const ItemRecord& item,
                   const NodeRef& node) {
  if (ctx.cred.is_superuser() && req.owned == kNoFile) return {};
  STOA_TRY(right, restore_right(volume, ctx, req.item.bin));
  if (right == RestoreRight::kAdmin) return fail(Cause::kRestoreByAdmin);
  if (req.owned != kNoFile) return {};
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  const bool owner = ctx.cred.uid == item.uid || ctx.cred.uid == node->record.uid;
  return owner ? Status{} : fail(Cause::kRestoreByOwner);
}

Result<bool> is_asked_for(VolumeContext& volume, const OpContext& ctx, const RestoreRequest& req,
                          const ItemRecord& item) {
  if (req.owned == kNoFile) return true;
  STOA_TRY(wanted, DeletedBelow::make(volume, ctx, req.owned));
  return wanted.includes(req.item.bin, item);
}

// Needs the tree lock.
Status require_place(const RestoreRequest& req, Node& dir) {
  if (req.owned == kNoFile) return {};
  if (lies_in(dir.chains_now().ancestry, req.owned)) return {};
  return fail(Cause::kRestoreElsewhere);
}

class Restore {
 public:
  Restore(VolumeContext& volume, const OpContext& ctx, const RestoreRequest& req, const ItemRecord& item)
      : volume_(volume), ctx_(ctx), req_(req), item_(item) {}

  // Into the directory, which exists. Absent: something moved meanwhile, to be looked at again.
  Result<std::optional<RestoreReply>> into(const NodeRef& dir) {
    STOA_TRY(user_bin, user_bin_of(volume_, ctx_, req_.item.bin, item_));
    STOA_TRY(node, volume_.nodes.get(item_.id));
    const bool directory = item_.type == FileType::kDirectory;
    return run_mutation(
        volume_, ctx_,
        [&](CommitTicket& ticket) -> Result<std::optional<RestoreReply>> {
          STOA_TRY(locks, NodeLocks::take(ctx_, {dir, user_bin, node}));
          if (user_bin->deleted || node->deleted) return std::nullopt;
          STOA_TRY(entry, find_form(volume_, *user_bin, item_.name, directory));
          if (entry.id != item_.id) return std::nullopt;
          STOA_CHECK_OK(require_place(req_, *dir));
          STOA_CHECK_OK(require_directory(*dir));
          STOA_CHECK_OK(require(ctx_, dir->record, kRightSearch));
          STOA_TRY(raw, free_name(*dir));
          STOA_CHECK_OK(require_add(ctx_, dir->record, directory));
          STOA_CHECK_OK(require_changeable(volume_, *dir));
          for (const NodeRef& party : {user_bin, node}) STOA_CHECK_OK(require_unsealed(volume_, *party));
          return move(user_bin, entry, dir, raw, node, ticket);
        },
        directory);
  }

 private:
  // As which component it comes into the directory.
  Result<std::string> free_name(const Node& dir) {
    FoundEntry there;
    if (!req_.to_name.empty()) {
      STOA_TRY(found, find_posix(volume_, dir, req_.to_name));
      there = std::move(found);
    } else {
      there.raw = item_.raw;
      const bool directory = item_.type == FileType::kDirectory;
      STOA_TRY(same, find_form(volume_, dir, item_.raw, directory));
      there.record = same;
      // Keys may have a file and a directory of one name; POSIX protocols never make both.
      if (!same.exists() && item_.protocol != Protocol::kS3) {
        STOA_TRY(other, find_form(volume_, dir, item_.raw, !directory));
        there.record = other;
      }
    }
    if (there.record.exists() || names_bin(dir, posix_name_of(there.raw, false))) {
      return fail(Cause::kRestoreNameTaken);
    }
    return there.raw;
  }

  Result<std::optional<RestoreReply>> move(const NodeRef& user_bin, const EntryRecord& entry, const NodeRef& dir,
                                           const std::string& raw, const NodeRef& node, CommitTicket& ticket) {
    STOA_ASSERT(entry.id == node->id && node->id == item_.id, "what is restored is what was found");
    STOA_ASSERT(user_bin != dir, "what is restored leaves its bin");
    STOA_TRY(same_directory, find_form(volume_, *dir, raw, true));
    const bool hidden_by_directory = !node->record.is_directory() && same_directory.exists();
    MetaTxn txn(volume_, ctx_);
    RestoreReply reply{node->id,
                       dir->id,
                       posix_name_of(raw, hidden_by_directory),
                       {node->id, user_bin->record.before(), {}, dir->record.before(), {}}};
    Inode user_bin_next = user_bin->record, dir_next = dir->record, next = node->record;
    bool recharged = false;
    next.touch(txn.now());
    if (next.is_directory()) {
      STOA_CHECK_OK(txn.move_directory(node, dir, usage_of(next)));
      STOA_CHECK_OK(txn.give_child_limits(node->account, dir->account));
      next.parent = dir->id;
    } else if (in_bin(volume_, node->ancestry)) {  // else another name carries it
      STOA_CHECK_OK(txn.move_charge(node, {dir->account, node->charge_target().owner, node->id}, usage_of(next)));
      next.parent = dir->id;
      recharged = true;
    }
    STOA_CHECK_OK(txn.remove_entry(user_bin, user_bin_next, item_.name, entry));
    STOA_CHECK_OK(txn.insert_entry(dir, dir_next, raw, node->id, next.type));
    txn.records().remove_item(req_.item.bin, req_.item.serial);
    txn.put_inode(node, std::move(next));
    if (recharged) txn.set_chains(node, dir->chains());
    reply.moved.from = user_bin_next.attributes();
    reply.moved.to = dir_next.attributes();
    txn.put_inode(user_bin, std::move(user_bin_next));
    txn.put_inode(dir, std::move(dir_next));
    txn.note({.kind = ChangeKind::kRestore, .id = node->id, .parent = dir->id, .name = raw});
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  }

  VolumeContext& volume_;
  const OpContext& ctx_;
  const RestoreRequest& req_;
  const ItemRecord& item_;
};

Result<RestoreReply> restore_item(VolumeContext& volume, const OpContext& ctx, const RestoreRequest& req,
                                  int directories_left);

// The item that is, or contains, a directory in a bin.
Result<RecycleItemId> item_of_directory(VolumeContext& volume, const OpContext& ctx, FileId dir) {
  const std::string lower = keys::id_key(dir);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  if (!it->valid()) return fail(Errc::kNotFound);
  STOA_TRY(user_bin, volume.nodes.get(keys::id_of(keys::after_id(it->key()))));
  STOA_TRY(bin, bin_of_user_bin(volume, ctx, *user_bin));
  if (bin == kNoFile) return fail(Errc::kNotFound);
  std::string_view name = keys::after_id(keys::after_id(it->key()));
  name.remove_suffix(1);
  STOA_TRY(found, item_of(volume, bin, name));
  return found.first;
}

std::vector<std::string_view> split(std::string_view below) {
  std::vector<std::string_view> parts;
  for (std::size_t slash; (slash = below.find('/')) != std::string_view::npos; below.remove_prefix(slash + 1)) {
    parts.push_back(below.substr(0, slash));
  }
  return parts;
}

Result<std::optional<RestoreReply>> restore_in_place(VolumeContext& volume, const OpContext& ctx,
                                                     const RestoreRequest& req, const ItemRecord& item,
                                                     Restore& restore, int directories_left) {
  const auto parent = volume.nodes.get(item.parent);
  if (parent) {
    STOA_TRY(recycled, is_recycled(volume, ctx, *parent));
    if (!recycled) return restore.into(*parent);
    const auto outer = item_of_directory(volume, ctx, item.parent);
    if (!outer && !is_gone(outer.error())) return fail(outer.error());
    if (!outer || directories_left == 0) {
      return fail(Cause::kRestorePlaceInBin);
    }
    STOA_CHECK_OK(restore_item(volume, ctx, {.item = *outer, .owned = req.owned}, directories_left - 1));
    return restore.into(*parent);
  }
  if (parent.error().code != Errc::kStale) return fail(parent.error());
  const auto present = directories_of_key(volume, ctx, item.base, item.below);
  if (!present && !is_gone(present.error())) return fail(present.error());
  if (!present) return fail(Cause::kRestorePlaceGone);
  {
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    STOA_CHECK_OK(require_place(req, *present->back()));
  }
  const auto parts = split(item.below);
  std::size_t kept = parts.size();
  const auto dir = make_directories(volume, ctx, item.base, parts, &kept);
  auto done = dir ? restore.into(*dir) : Result<std::optional<RestoreReply>>(fail(dir.error()));
  // Also where it is looked for again: the next look finds them there, and would leave them.
  if (!done || !*done) prune_directories(volume, ctx.without_deadline(), item.base, parts, kept);
  return done;
}

Result<RestoreReply> restore_item(VolumeContext& volume, const OpContext& ctx, const RestoreRequest& req,
                                  int directories_left) {
  for (int look = 0; look < kItemLooksMax; ++look) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    STOA_TRY(item, read_item(volume, req.item));
    STOA_TRY(asked_for, is_asked_for(volume, ctx, req, item));
    if (!asked_for) return fail(Cause::kItemUnknown);
    const auto node = volume.nodes.get(item.id);
    if (!node && node.error().code == Errc::kStale) continue;  // purged; the next look at the record tells
    STOA_CHECK_OK(node);
    STOA_CHECK_OK(may_restore(volume, ctx, req, item, *node));
    Restore restore(volume, ctx, req, item);
    const auto reply = [&]() -> Result<std::optional<RestoreReply>> {
      if (req.to_parent == kNoFile) return restore_in_place(volume, ctx, req, item, restore, directories_left);
      STOA_TRY(dir, volume.nodes.get(req.to_parent));
      return restore.into(dir);
    }();
    STOA_CHECK_OK(reply);
    if (*reply) return **reply;
  }
  return fail(Errc::kCorrupt, "an item of the recycle bin is damaged");
}

}  // namespace

Result<RestoreRight> restore_right(VolumeContext& volume, const OpContext& ctx, FileId bin) {
  STOA_TRY(bin_node, volume.nodes.get(bin));
  FileId parent = kNoFile;
  {
    STOA_TRY(lock, share_by(bin_node->lock, ctx.deadline));
    parent = bin_node->record.parent;
  }
  STOA_TRY(recycle_root, volume.nodes.get(parent));
  const auto snapshot = volume.recycle.registry->snapshot();
  if (snapshot->recycle() == nullptr) return RestoreRight::kOwner;
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  const RecycleDecision kept = find_policy(*snapshot->recycle(), recycle_root->chains_now().ancestry);
  return kept.policy != nullptr ? kept.policy->restore : RestoreRight::kOwner;
}

Result<RestoreReply> restore(VolumeContext& volume, const OpContext& ctx, const RestoreRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  return restore_item(volume, ctx, req, kDirectoriesMax);
}

Result<RenameReply> restore_by_rename(VolumeContext& volume, const OpContext& ctx, const RenameRequest& req, FileId bin,
                                      std::string_view raw) {
  STOA_TRY(item, item_of(volume, bin, raw));
  STOA_TRY(reply, restore(volume, ctx, {.item = item.first, .to_parent = req.to_parent, .to_name = req.to_name}));
  return reply.moved;
}

}  // namespace stoa::core

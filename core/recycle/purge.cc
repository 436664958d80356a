#include "core/recycle/purge.h"

#include <functional>
#include <set>

#include "core/api/registry.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/links/remove_directory.h"
#include "core/recycle/deleted_below.h"
#include "core/recycle/origin.h"
#include "core/recycle/restore.h"
#include "core/txn/operations.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr std::size_t kPurgedAtOnce = 4096;
constexpr std::int64_t kDayNs = std::int64_t{24} * 3600 * 1'000'000'000;

std::uint64_t serial_of(std::string_view item_key) {
  return keys::read_be64(item_key.substr(item_key.size() - sizeof(std::uint64_t)));
}

Result<std::uint64_t> purge_bin(VolumeContext& volume, const OpContext& ctx, FileId bin);

// False: the item was taken out meanwhile.
Result<bool> purge_item(VolumeContext& volume, const OpContext& ctx, const RecycleItemId& id) {
  const auto item = read_item(volume, id);
  if (!item && item.error().code == Errc::kNotFound) return false;
  STOA_CHECK_OK(item);
  const auto user_bin = user_bin_of(volume, ctx, id.bin, *item);
  const auto node = volume.nodes.get(item->id);
  for (const auto* party : {&user_bin, &node}) {
    if (!*party && party->error().code == Errc::kStale) return false;
    STOA_CHECK_OK(*party);
  }
  // Events name its origin, or, where that is unknown, its place in the bin.
  STOA_TRY(origin, origin_of(volume, ctx, *item));
  if (!origin) origin = Origin{(*user_bin)->id, item->name};
  const bool directory = item->type == FileType::kDirectory;
  if (directory) {
    STOA_TRY(inner, bin_of(volume, item->id));
    if (inner != kNoFile) STOA_CHECK_OK(purge_bin(volume, ctx, inner));
    STOA_CHECK_OK(discard_empty_bin(volume, ctx, *node));
  }
  return run_mutation(volume, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {*user_bin, *node}));
    if ((*user_bin)->deleted || (*node)->deleted) return false;
    STOA_TRY(entry, find_form(volume, **user_bin, item->name, directory));
    if (entry.id != item->id) return false;
    for (const auto& party : {*user_bin, *node}) STOA_CHECK_OK(require_unsealed(volume, *party));
    MetaTxn txn(volume, ctx);
    Inode user_bin_next = (*user_bin)->record;
    STOA_CHECK_OK(txn.remove_entry(*user_bin, user_bin_next, item->name, entry));
    if (directory) {
      STOA_CHECK_OK(stage_remove_directory(volume, txn, *node));
    } else {
      STOA_CHECK_OK(drop_link(volume, txn, *node, (*user_bin)->id, item->name));
    }
    txn.put_inode(*user_bin, std::move(user_bin_next));
    txn.records().remove_item(id.bin, id.serial);
    txn.note({.kind = ChangeKind::kPurge, .id = item->id, .parent = origin->dir, .name = origin->key});
    STOA_CHECK_OK(txn.commit());
    return true;
  });
}

// An item protected by a lease stays for a later round. So does a directory whose own bin is charged for an open
// file (core/links/orphan.h).
bool is_for_later(const Result<bool>& purged) {
  return !purged && (purged.error().code == Errc::kRecallPending || purged.error().code == Errc::kNotEmpty);
}

Result<std::uint64_t> purge_bin(VolumeContext& volume, const OpContext& ctx, FileId bin) {
  std::uint64_t removed = 0;
  const std::string prefix = keys::items_of(bin);
  const auto it = volume.kv.scan(Family::kTrash, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    STOA_TRY(purged, purge_item(volume, ctx, {bin, serial_of(it->key())}));
    removed += purged ? 1 : 0;
  }
  STOA_CHECK_OK(it->status());
  return removed;
}

// A directory of the bin, or the bin itself, that nothing is in and nothing is charged to.
bool is_bare(VolumeContext& volume, const Node& node) {
  return !node.deleted && node.record.entries == 0 && is_zero(volume.ledger.read(node.account).usage);
}

Status discard_user_bin(VolumeContext& volume, const OpContext& ctx, const NodeRef& bin, std::string_view name,
                        FileId id) {
  const auto user_bin = volume.nodes.get(id);
  if (!user_bin && user_bin.error().code == Errc::kStale) return {};
  STOA_CHECK_OK(user_bin);
  const auto done = run_mutation(volume, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {bin, *user_bin}));
    if (bin->deleted || !is_bare(volume, **user_bin)) return false;
    STOA_TRY(entry, find_form(volume, *bin, name, true));
    if (entry.id != id) return false;
    MetaTxn txn(volume, ctx);
    Inode bin_next = bin->record;
    STOA_CHECK_OK(txn.remove_entry(bin, bin_next, name, entry));
    STOA_CHECK_OK(txn.delete_inode(*user_bin));
    txn.put_inode(bin, std::move(bin_next));
    STOA_CHECK_OK(txn.commit());
    return true;
  });
  if (!done) return fail(done.error());
  return {};
}

// The bin becomes counted or uncounted by its policy; if its recycle root has no room for it, later.
Status recount(VolumeContext& volume, const Bin& bin, bool counted) {
  STOA_TRY(root, volume.nodes.get(kRootId));
  const OpContext ctx = OpContext().applied();
  const auto done = run_mutation(
      volume, ctx,
      [&](CommitTicket&) -> Result<bool> {
        STOA_TRY(locks, NodeLocks::take(ctx, {bin.recycle_root, bin.node}));
        if (bin.recycle_root->deleted || bin.node->deleted || bin.node->record.has(kExcluded) != counted) return false;
        MetaTxn txn(volume, ctx);
        STOA_CHECK_OK(txn.move_directory(bin.node, counted ? bin.recycle_root : root, {}));
        Inode next = bin.node->record;
        next.flags = counted ? next.flags & ~kExcluded : next.flags | kExcluded;
        txn.put_inode(bin.node, std::move(next), Visible::kNo);
        STOA_CHECK_OK(txn.commit());
        return true;
      },
      true);
  if (done || done.error().code == Errc::kQuota || done.error().code == Errc::kCrossDevice) return {};
  return fail(done.error());
}

// `end`: items from this serial on may still be on their way into the store, in any order.
Status age_bin(VolumeContext& volume, const Bin& bin, const RecyclePolicy& policy, Timestamp now, std::uint64_t end,
               std::size_t& left) {
  const OpContext ctx = OpContext().applied();
  const FileId id = bin.node->id;
  std::uint64_t from = 0;
  {
    const std::lock_guard lock(volume.recycle.mutex);
    from = volume.recycle.purged_to[id] + 1;
  }
  bool all_gone = true;
  const auto it = volume.kv.scan(Family::kTrash, keys::item_key(id, from), keys::item_key(id, end));
  for (; it->valid() && left > 0; it->next()) {
    STOA_TRY(item, ItemRecord::decode(it->value()));
    const bool too_old = policy.days != 0 && (now.ns - item.time.ns) / kDayNs >= policy.days;
    const bool too_much = policy.bytes_max && bytes_of(volume.ledger.read(bin.node->account).usage) > *policy.bytes_max;
    if (!too_old && !too_much) {
      if (item.time <= now) break;
      all_gone = false;  // the clock was wrong once; that must not keep later items for ever
      continue;
    }
    --left;
    const auto purged = purge_item(volume, ctx, {id, serial_of(it->key())});
    const bool sealed = !purged && purged.error().code == Errc::kReadOnly;  // by another name
    if (!purged && !sealed && !is_for_later(purged)) return fail(purged.error());
    all_gone = all_gone && purged;
    if (!all_gone) continue;
    const std::lock_guard lock(volume.recycle.mutex);
    volume.recycle.purged_to[id] = serial_of(it->key());
  }
  return it->status();
}

// The items named by a request to purge.
class ItemsToPurge {
 public:
  ItemsToPurge(VolumeContext& volume, const OpContext& ctx, const PurgeRequest& req, DeletedBelow& wanted)
      : volume_(volume), ctx_(ctx), req_(req), wanted_(wanted), named_(req.items.begin(), req.items.end()) {}

  // Items of this bin, in order of deletion; `visit` may purge them.
  Status each(FileId bin, const std::function<Status(const RecycleItemId&)>& visit) const {
    if (!named_.empty()) {
      for (auto it = named_.lower_bound({bin, 0}); it != named_.end() && it->bin == bin; ++it) {
        const auto item = read_item(volume_, *it);
        if (!item && item.error().code == Errc::kNotFound) continue;
        STOA_CHECK_OK(item);
        STOA_CHECK_OK(look_at(*it, *item, visit));
      }
      return {};
    }
    const std::string prefix = keys::items_of(bin);
    const auto it = volume_.kv.scan(Family::kTrash, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      STOA_TRY(item, ItemRecord::decode(it->value()));
      STOA_CHECK_OK(look_at({bin, serial_of(it->key())}, item, visit));
    }
    return it->status();
  }

 private:
  Status look_at(const RecycleItemId& id, const ItemRecord& item,
                 const std::function<Status(const RecycleItemId&)>& visit) const {
    if (ctx_.expired()) return fail(Errc::kTimeout);
    if (req_.older_than_seconds) {
      const std::int64_t age = (now_.ns - item.time.ns) / 1'000'000'000;
      if (age < 0 || static_cast<std::uint64_t>(age) < *req_.older_than_seconds) return {};
    }
    STOA_TRY(included, wanted_.includes(id.bin, item));
    return included ? visit(id) : Status{};
  }

  VolumeContext& volume_;
  const OpContext& ctx_;
  const PurgeRequest& req_;
  DeletedBelow& wanted_;
  std::set<RecycleItemId> named_;
  Timestamp now_ = volume_.time.wall();
};

}  // namespace

Status discard_empty_bin(VolumeContext& volume, const OpContext& caller, const NodeRef& recycle_root) {
  {
    STOA_TRY(lock, share_by(recycle_root->lock, caller.deadline));
    if (!recycle_root->record.has(kHasBin)) return {};
  }
  OpContext ctx;
  ctx.durability = Durability::kApplied;
  ctx.deadline = caller.deadline;
  STOA_TRY(sealed, is_sealed(volume, ctx, recycle_root));
  if (sealed) return {};
  STOA_TRY(id, bin_of(volume, recycle_root->id));
  const auto bin = volume.nodes.get(id);
  if (!bin && bin.error().code == Errc::kStale) return {};
  STOA_CHECK_OK(bin);
  const std::string prefix = keys::id_key(id);
  const auto it = volume.kv.scan(Family::kEntry, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    STOA_TRY(entry, EntryRecord::decode(it->value()));
    std::string_view name = keys::after_id(it->key());
    name.remove_suffix(1);
    STOA_CHECK_OK(discard_user_bin(volume, ctx, *bin, name, entry.id));
  }
  STOA_CHECK_OK(it->status());
  const auto done = run_mutation(volume, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {recycle_root, *bin}));
    if (recycle_root->deleted || !is_bare(volume, **bin)) return false;
    MetaTxn txn(volume, ctx);
    Inode next = recycle_root->record;
    next.flags &= ~kHasBin;
    STOA_CHECK_OK(txn.delete_inode(*bin));
    txn.put_inode(recycle_root, std::move(next), Visible::kNo);
    txn.records().remove_bin(recycle_root->id);
    STOA_CHECK_OK(txn.commit());
    const std::lock_guard lock(volume.recycle.mutex);
    volume.recycle.purged_to.erase(id);
    return true;
  });
  if (!done) return fail(done.error());
  return {};
}

Status age_bins(VolumeContext& volume, Timestamp now, qos::BackgroundThrottle* throttle) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return {};
  STOA_TRY(bins, bins_below(volume, {}, kRootId));
  STOA_TRY(end, volume.next_id());
  // Deletions with a smaller serial have committed once the tree lock was free of all holders.
  {
    const std::lock_guard barrier(volume.tree_lock);
  }
  const auto snapshot = volume.recycle.registry->snapshot();
  std::size_t left = kPurgedAtOnce;
  for (const Bin& bin : bins) {
    if (throttle != nullptr && throttle->stopped()) break;
    STOA_TRY(sealed, is_sealed(volume, OpContext(), bin.node));
    if (sealed) continue;
    const std::size_t before = left;
    // Items of a removed policy age by the rules that apply without one.
    RecyclePolicy policy{.enabled = false};
    bool counted = true;
    {
      const std::shared_lock chain(volume.tree_lock);
      const std::shared_lock lock(bin.node->lock);
      counted = !bin.node->record.has(kExcluded);
      const RecycleDecision kept = snapshot->recycle() != nullptr
                                       ? find_policy(*snapshot->recycle(), bin.recycle_root->chains_now().ancestry)
                                       : RecycleDecision{};
      if (kept.policy != nullptr) policy = *kept.policy;
    }
    if (policy.enabled && policy.counted != counted) STOA_CHECK_OK(recount(volume, bin, policy.counted));
    STOA_CHECK_OK(age_bin(volume, bin, policy, now, static_cast<std::uint64_t>(end), left));
    if (throttle != nullptr && left < before)
      throttle->spent(qos::Price{}.add(qos::Resource::kMetadataOps, before - left));
    if (!policy.enabled && is_zero(volume.ledger.read(bin.node->account).usage))
      STOA_CHECK_OK(discard_empty_bin(volume, {}, bin.recycle_root));
  }
  return {};
}

Result<PurgeReply> purge(VolumeContext& volume, const OpContext& ctx, const PurgeRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(wanted, DeletedBelow::make(volume, ctx, req.dir));
  std::vector<FileId> open, closed;  // closed: to the caller
  for (const Bin& bin : wanted.bins()) {
    const auto right = req.by_owner ? restore_right(volume, ctx, bin.node->id) : RestoreRight::kOwner;
    if (!right && right.error().code == Errc::kStale) continue;  // the bin went meanwhile
    STOA_CHECK_OK(right);
    (*right == RestoreRight::kAdmin ? closed : open).push_back(bin.node->id);
  }
  const ItemsToPurge items(volume, ctx, req, wanted);
  for (const FileId bin : closed) {
    STOA_CHECK_OK(items.each(bin, [](const RecycleItemId&) -> Status { return fail(Cause::kPurgeByAdmin); }));
  }
  // Every removal is only applied: the caller waits for all of them together.
  const OpContext applied = ctx.applied();
  PurgeReply reply{0};
  for (const FileId bin : open) {
    STOA_CHECK_OK(items.each(bin, [&](const RecycleItemId& id) -> Status {
      const auto purged = purge_item(volume, applied, id);
      if (!purged && !is_for_later(purged)) return fail(purged.error());
      reply.removed += purged && *purged ? 1 : 0;
      return {};
    }));
  }
  STOA_CHECK_OK(sync_or_defer(volume, ctx, volume.committer.applied()));
  return reply;
}

}  // namespace stoa::core

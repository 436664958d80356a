#include "core/recycle/bin.h"

#include <charconv>

#include "base/assert.h"
#include "core/api/registry.h"
#include "core/data/content.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/links/remove_directory.h"
#include "core/txn/depth.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kBinMode = 0755;
constexpr std::uint32_t kUserBinMode = 0700;
constexpr int kLooksMax = 1000;  // at a bin that comes and goes meanwhile

// Bins and users' bins are the core's own: they come durably with the first delete that needs them.
OpContext own_context(const OpContext& caller) {
  OpContext ctx;
  ctx.durability = Durability::kApplied;
  ctx.deadline = caller.deadline;
  return ctx;
}

Result<Inode> make_directory(VolumeContext& volume, const MetaTxn& txn, FileId parent) {
  Inode inode;
  STOA_TRY(id, volume.next_id());
  inode.id = id;
  inode.generation = static_cast<std::uint32_t>(static_cast<std::uint64_t>(txn.now().ns) >> 10);
  inode.type = FileType::kDirectory;
  inode.links = 2;
  inode.atime = inode.mtime = inode.ctime = inode.btime = txn.now();
  inode.parent = parent;
  return inode;
}

Status make_bin(VolumeContext& volume, const OpContext& caller, FileId recycle_root, bool counted) {
  STOA_TRY(dir, volume.nodes.get(recycle_root));
  STOA_TRY(root, volume.nodes.get(kRootId));
  const OpContext ctx = own_context(caller);
  volume.recycle.any.store(true, std::memory_order_release);
  const auto made = run_mutation(volume, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {dir}));
    STOA_CHECK_OK(require_directory(*dir));
    if (dir->record.has(kHasBin)) return false;
    MetaTxn txn(volume, ctx);
    STOA_TRY(bin, make_directory(volume, txn, recycle_root));
    bin.mode = kBinMode;
    bin.flags = counted ? kIsBin : kIsBin | kExcluded;
    Inode next = dir->record;
    next.flags |= kHasBin;
    txn.records().put_bin(recycle_root, {bin.id});
    Chains chains{std::make_shared<Account>(), std::make_shared<Ancestry>(bin.id, dir->ancestry, Ancestry::Kind::kBin)};
    chains.account->dir = bin.id;
    chains.account->parent = counted ? dir->account : root->account;
    chains.account->child_class = UsageClass::kRecycled;
    note_levels(chains.account->parent, 1);
    txn.new_inode(std::move(bin), std::move(chains));
    txn.put_inode(dir, std::move(next), Visible::kNo);
    STOA_CHECK_OK(txn.commit());
    return true;
  });
  if (!made) return fail(made.error());
  return {};
}

Status make_user_bin(VolumeContext& volume, const OpContext& caller, const NodeRef& bin, std::string_view name) {
  const OpContext ctx = own_context(caller);
  const auto made = run_mutation(volume, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {bin}));
    if (bin->deleted) return false;
    STOA_TRY(present, find_form(volume, *bin, name, true));
    if (present.exists()) return false;
    MetaTxn txn(volume, ctx);
    STOA_TRY(user_bin, make_directory(volume, txn, bin->id));
    user_bin.mode = kUserBinMode;
    user_bin.uid = caller.cred.uid;
    user_bin.gid = caller.cred.gid;
    Inode bin_next = bin->record;
    txn.insert_unique_entry(bin, bin_next, name, user_bin.id,
                            FileType::kDirectory);  // all entries of a bin are made here
    txn.put_inode(bin, std::move(bin_next));
    note_levels(bin->account, 1);
    Chains chains = new_chains(user_bin.id, bin->chains());
    txn.new_inode(std::move(user_bin), std::move(chains));
    STOA_CHECK_OK(txn.commit());
    return true;
  });
  if (!made) return fail(made.error());
  return {};
}

std::string hex(std::uint64_t number) {
  char text[16];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number, 16);
  return std::string(text, error == std::errc{} ? end : text);
}

std::string name_in_bin(std::string_view raw, std::uint64_t serial) {
  std::string name = posix_name_of(raw, false);
  // A name that was an alias in its old directory would be the alias of another component here.
  if (!is_plain_name(name)) name.insert(name.begin(), '_');
  const std::string tail = "@" + hex(serial);
  if (name.size() + tail.size() > kNameBytesMax) {
    std::size_t cut = kNameBytesMax - tail.size();
    while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) --cut;  // not within a character
    name.resize(cut);
  }
  return name + tail;
}

// The entry in the user's bin and the record of the item.
Status stage_item(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const UserBin& user_bin,
                  const Inode& inode, const DeletedName& name) {
  STOA_ASSERT(user_bin.node != nullptr && user_bin.bin != kNoFile, "what is kept goes into a bin");
  STOA_TRY(id, volume.next_id());
  const auto serial = static_cast<std::uint64_t>(id);
  const ItemRecord item{.id = inode.id,
                        .type = inode.type,
                        .name = name_in_bin(name.raw, serial),
                        .parent = name.dir,
                        .raw = std::string(name.raw),
                        .base = name.base,
                        .below = name.below,
                        .uid = ctx.cred.uid,
                        .protocol = ctx.protocol,
                        .client = ctx.client,
                        .time = txn.now(),
                        .bytes = inode.type == FileType::kRegular ? inode.size : 0};
  STOA_ASSERT(item.name.size() <= kNameBytesMax, "a name in a bin is as long as a name may be");
  Inode user_bin_next = user_bin.node->record;
  // Its serial is in the name, and all entries of a user's bin are made here.
  txn.insert_unique_entry(user_bin.node, user_bin_next, item.name, inode.id, inode.type);
  txn.put_inode(user_bin.node, std::move(user_bin_next));
  txn.records().put_item(user_bin.bin, serial, item);
  return {};
}

// The usage below the empty directory that moves with it: its marker, and its own bin.
Result<Usage> usage_within(VolumeContext& volume, const Node& victim) {
  Usage within;
  if (victim.record.entries != 0) {
    STOA_TRY(entry, find_form(volume, victim, "", false));
    STOA_TRY(marker, volume.nodes.get(entry.id));
    within = usage_of(marker->record);
  }
  if (!victim.record.has(kHasBin)) return within;
  STOA_TRY(bin, bin_of(volume, victim.id));
  STOA_TRY(node, volume.nodes.get(bin));
  if (node->account->parent == victim.account) within = within + volume.ledger.read(node->account).usage;
  return within;
}

// Whether the locked directory is empty and has no settings that its account would have to take along.
bool is_bare(const VolumeView& volume, const Node& dir) {
  if (dir.record.entries != 0 || dir.record.has(kHasBin)) return false;
  const UsageRecord known = volume.ledger.read(dir.account);
  return is_zero(known.usage) && !has_quota(known);
}

enum class Recycled { kYes, kCannot, kNotAlone };

Result<Recycled> recycle_directory(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const UserBin& user_bin,
                                   const NodeRef& victim, const DeletedName& name, bool alone) {
  STOA_CHECK_OK(require_empty(volume, victim));
  if (is_bare(volume, *victim)) {
    STOA_CHECK_OK(txn.move_bare_directory(victim, user_bin.node));
  } else if (!alone) {
    return Recycled::kNotAlone;
  } else {
    STOA_TRY(within, usage_within(volume, *victim));
    if (volume.ledger.read(victim->account).usage != within) return Recycled::kCannot;
    const Status moved = txn.move_directory(victim, user_bin.node, usage_of(victim->record));
    if (!moved && moved.error().code == Errc::kCrossDevice) return fail(Cause::kBinNotEmpty);
    STOA_CHECK_OK(moved);
  }
  Inode next = victim->record;
  next.parent = user_bin.node->id;
  next.touch(txn.now());
  STOA_CHECK_OK(stage_item(volume, ctx, txn, user_bin, next, name));
  txn.put_inode(victim, std::move(next));
  return Recycled::kYes;
}

UserBin known_user_bin(VolumeContext& volume, FileId recycle_root, std::uint32_t uid) {
  RecycleState::KnownUserBin known{};
  {
    const std::lock_guard lock(volume.recycle.mutex);
    const auto it = volume.recycle.user_bins.find({recycle_root, uid});
    if (it == volume.recycle.user_bins.end()) return {};
    known = it->second;
  }
  auto node = volume.nodes.get(known.user_bin);
  if (!node) return {};
  return {recycle_root, known.bin, std::move(*node)};
}

void remember_user_bin(VolumeContext& volume, const std::pair<FileId, std::uint32_t>& of,
                       const RecycleState::KnownUserBin& known) {
  const std::lock_guard lock(volume.recycle.mutex);
  STOA_ASSERT(volume.recycle.user_bins.size() <= RecycleState::kUserBinsMax, "bins that are known have a limit");
  if (volume.recycle.user_bins.size() == RecycleState::kUserBinsMax) volume.recycle.user_bins.clear();
  volume.recycle.user_bins.insert_or_assign(of, known);
}

}  // namespace

Result<FileId> bin_of(const VolumeView& volume, FileId dir) {
  std::string value;
  STOA_TRY(found, volume.kv.get(Family::kTrash, keys::recycle_root_key(dir), &value));
  if (!found) return kNoFile;
  STOA_TRY(recycle_root, RecycleRootRecord::decode(value));
  return recycle_root.bin;
}

Result<std::vector<Bin>> bins_below(const VolumeView& volume, const OpContext& ctx, FileId dir) {
  STOA_TRY(top, volume.nodes.get(dir));
  {
    STOA_TRY(lock, share_by(top->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*top));
  }
  std::vector<Bin> bins;
  const std::string prefix(keys::kRecycleRootPrefix);
  const auto it = volume.kv.scan(Family::kTrash, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    STOA_TRY(record, RecycleRootRecord::decode(it->value()));
    const auto recycle_root = volume.nodes.get(keys::id_of(it->key().substr(prefix.size())));
    const auto node = volume.nodes.get(record.bin);
    // Gone since the walk began, or damaged, which the verifier tells and which must not hold up the others.
    const auto is_passed_over = [](Errc why) { return why == Errc::kStale || why == Errc::kCorrupt; };
    for (const auto* party : {&recycle_root, &node}) {
      if (!*party && !is_passed_over(party->error().code)) return fail(party->error());
    }
    if (!recycle_root || !node) continue;
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    if (lies_in((*recycle_root)->chains_now().ancestry, dir)) bins.push_back({*recycle_root, *node});
  }
  STOA_CHECK_OK(it->status());
  return bins;
}

Result<bool> has_bins(const VolumeView& volume) {
  const auto it = volume.kv.scan(Family::kTrash, {}, {});
  STOA_CHECK_OK(it->status());
  return it->valid();
}

RecycleDecision find_policy(const RecycleTable& table, const AncestryRef& dir) {
  RecycleDecision kept;
  for (const Ancestry* at = dir.get(); at != nullptr; at = at->above.get()) {
    if (at->kind != Ancestry::Kind::kPlain) return {};
    if (kept.recycle_root == kNoFile && table.has_own_bin(at->dir)) kept.recycle_root = at->dir;
    kept.policy = table.find(at->dir);
    if (kept.policy != nullptr) return kept;
  }
  return {};
}

Result<UserBin> prepare_user_bin(VolumeContext& volume, const OpContext& ctx, const NodeRef& dir,
                                 const std::function<Status()>& may) {
  if (volume.recycle.registry == nullptr || ctx.read_only) return UserBin{};
  const auto snapshot = volume.recycle.registry->snapshot();
  if (snapshot->recycle() == nullptr) return UserBin{};
  RecycleDecision kept;
  {
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    kept = find_policy(*snapshot->recycle(), dir->chains_now().ancestry);
  }
  if (kept.policy == nullptr || !kept.policy->enabled) return UserBin{};
  STOA_CHECK_OK(check_unsealed(volume, ctx, dir));
  if (UserBin known = known_user_bin(volume, kept.recycle_root, ctx.cred.uid)) return known;
  const std::string name = std::to_string(ctx.cred.uid);
  for (int look = 0; look < kLooksMax; ++look) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    STOA_TRY(bin, bin_of(volume, kept.recycle_root));
    if (bin == kNoFile) {
      STOA_CHECK_OK(may());
      STOA_CHECK_OK(make_bin(volume, ctx, kept.recycle_root, kept.policy->counted));
      continue;
    }
    // Empty bins and users' bins may go at any time: then it is made again.
    const auto bin_node = volume.nodes.get(bin);
    if (!bin_node && bin_node.error().code == Errc::kStale) continue;
    STOA_CHECK_OK(bin_node);
    EntryRecord entry;
    {
      STOA_TRY(lock, share_by((*bin_node)->lock, ctx.deadline));
      if ((*bin_node)->deleted) continue;
      STOA_TRY(found, find_form(volume, **bin_node, name, true));
      entry = found;
    }
    if (!entry.exists()) {
      STOA_CHECK_OK(may());
      STOA_CHECK_OK(make_user_bin(volume, ctx, *bin_node, name));
      continue;
    }
    auto node = volume.nodes.get(entry.id);
    if (!node && node.error().code == Errc::kStale) continue;
    STOA_CHECK_OK(node);
    remember_user_bin(volume, {kept.recycle_root, ctx.cred.uid}, {bin, entry.id});
    return UserBin{kept.recycle_root, bin, std::move(*node)};
  }
  return fail(Errc::kCorrupt, "the recycle bin is damaged");
}

bool still_kept(VolumeContext& volume, const UserBin& user_bin, const Node& dir) {
  if (!user_bin) return true;
  if (user_bin.node->deleted) return false;
  const auto snapshot = volume.recycle.registry->snapshot();
  if (snapshot->recycle() == nullptr) return false;
  const RecycleDecision kept = find_policy(*snapshot->recycle(), dir.ancestry);
  return kept.policy != nullptr && kept.policy->enabled && kept.recycle_root == user_bin.recycle_root;
}

Status recycle_link(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const UserBin& user_bin,
                    const NodeRef& node, const DeletedName& name) {
  Inode next = node->record;
  next.touch(txn.now());
  OtherParent charged{user_bin.node, true};
  if (next.links > 1) {
    STOA_TRY(other, other_parent(volume, node->id, name.dir, name.raw));
    if (!other.in_bin) charged = other;
  }
  Chains carries = node->chains();
  // It stays charged where it is as long as that is the directory of a live name; or when there is no room
  // (drop_link.h).
  if (charged.in_bin || next.parent == name.dir) {
    const Status moved =
        txn.move_charge(node, {charged.dir->account, node->charge_target().owner, node->id}, usage_of(node->record));
    if (moved) {
      next.parent = charged.dir->id;
      carries = charged.dir->chains();
    } else if (moved.error().code != Errc::kQuota) {
      return moved;
    } else {
      next.flags |= kCountsElsewhere;
    }
  }
  STOA_CHECK_OK(stage_item(volume, ctx, txn, user_bin, next, name));
  txn.put_inode(node, std::move(next));
  // After put_inode, which commits lazily reserved bytes where they were reserved.
  txn.set_chains(node, std::move(carries));
  return {};
}

Result<bool> remove_or_recycle_directory(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn,
                                         const UserBin& user_bin, const NodeRef& victim, const DeletedName& name,
                                         bool alone) {
  if (user_bin) {
    STOA_TRY(recycled, recycle_directory(volume, ctx, txn, user_bin, victim, name, alone));
    if (recycled != Recycled::kCannot) return recycled == Recycled::kYes;
  }
  STOA_CHECK_OK(stage_remove_directory(volume, txn, victim));
  return true;
}

Status recycle_content(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const UserBin& user_bin,
                       const NodeRef& node, const DeletedName& name) {
  STOA_ASSERT(node->record.type == FileType::kRegular, "only a file's content is kept by itself");
  STOA_ASSERT(node->writing == nullptr || node->writing->fresh.empty(), "what is kept is written and known");
  Inode old = node->record;
  STOA_TRY(id, volume.next_id());
  old.id = id;
  old.links = 1;
  old.parent = user_bin.node->id;
  old.touch(txn.now());
  const ChargeTarget target{user_bin.node->account, {old.uid, old.gid}, old.id};
  STOA_CHECK_OK(txn.reserve(target, usage_of(old)));
  if (old.has(kContentInline)) {
    STOA_TRY(bytes, load_inline(volume, node->id));
    stage_inline(txn, old.id, bytes);
  }
  for (const Extent& extent : old.layout.extents) txn.reference(extent.blob, +1);
  std::string present;
  STOA_TRY(being_written, volume.kv.get(Family::kState, keys::open_key(node->id), &present));
  if (being_written) txn.records().mark_dirty(old.id);
  if (old.has(kHasXattrs)) {
    const std::string prefix = keys::id_key(node->id);
    const auto it = volume.kv.scan(Family::kXattr, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      const std::string_view attribute = keys::after_id(it->key());
      if (attribute != keys::kAclXattr) txn.records().put_xattr(old.id, attribute, it->value());
    }
    STOA_CHECK_OK(it->status());
  }
  STOA_CHECK_OK(stage_item(volume, ctx, txn, user_bin, old, name));
  const NodeRef made = txn.new_inode(std::move(old), user_bin.node->chains());
  made->marked_dirty = being_written;
  return {};
}

Result<std::pair<RecycleItemId, ItemRecord>> item_of(const VolumeView& volume, FileId bin, std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos) return fail(Errc::kNotFound);
  RecycleItemId item{bin, 0};
  const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), item.serial, 16);
  if (error != std::errc{} || end != name.data() + name.size()) return fail(Errc::kNotFound);
  STOA_TRY(record, read_item(volume, item));
  if (record.name != name) return fail(Errc::kNotFound);
  return std::pair{item, std::move(record)};
}

Result<ItemRecord> read_item(const VolumeView& volume, const RecycleItemId& item) {
  std::string value;
  STOA_TRY(found, volume.kv.get(Family::kTrash, keys::item_key(item.bin, item.serial), &value));
  if (!found) return fail(Cause::kItemUnknown);
  return ItemRecord::decode(value);
}

Result<NodeRef> user_bin_of(VolumeContext& volume, const OpContext& ctx, FileId bin, const ItemRecord& item) {
  STOA_TRY(node, volume.nodes.get(bin));
  FileId user_bin = kNoFile;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_live(*node));
    STOA_TRY(entry, find_form(volume, *node, std::to_string(item.uid), true));
    user_bin = entry.id;
  }
  if (user_bin == kNoFile) return fail(Errc::kStale);
  return volume.nodes.get(user_bin);
}

}  // namespace stoa::core

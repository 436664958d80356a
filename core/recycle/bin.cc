#include "core/recycle/bin.h"

#include <charconv>

#include "core/api/registry.h"
#include "core/data/content.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/links/remove_directory.h"
#include "core/txn/depth.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kBinMode = 0755;
constexpr std::uint32_t kShelfMode = 0700;
constexpr int kLooksMax = 1000;  // at a bin that comes and goes meanwhile

// Bins and shelves are the core's own: they come durably with the first delete that needs them.
OpContext own_context() {
  OpContext ctx;
  ctx.durability = Durability::kApplied;
  return ctx;
}

Result<Inode> make_directory(Tree& tree, const MetaTxn& txn, FileId home) {
  Inode inode;
  STOA_TRY(id, tree.next_id());
  inode.id = id;
  inode.generation = static_cast<std::uint32_t>(static_cast<std::uint64_t>(txn.now().ns) >> 10);
  inode.type = FileType::kDirectory;
  inode.links = 2;
  inode.atime = inode.mtime = inode.ctime = inode.btime = txn.now();
  inode.home = home;
  return inode;
}

AccountRef make_account(FileId dir, const AccountRef& parent) {
  auto account = std::make_shared<Account>();
  account->dir = dir;
  account->parent = parent;
  return account;
}

Status make_bin(Tree& tree, FileId anchor, bool counted) {
  STOA_TRY(dir, tree.nodes.get(anchor));
  STOA_TRY(root, tree.nodes.get(kRootId));
  const OpContext ctx = own_context();
  tree.recycle.any.store(true, std::memory_order_release);
  const auto made = run_mutation(tree, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {dir}));
    STOA_CHECK_OK(require_directory(*dir));
    if (dir->record.has(kHasBin)) return false;
    MetaTxn txn(tree, ctx);
    STOA_TRY(bin, make_directory(tree, txn, anchor));
    bin.mode = kBinMode;
    bin.flags = static_cast<std::uint8_t>(kIsBin | (counted ? 0 : kUncounted));
    Inode next = dir->record;
    next.flags |= kHasBin;
    txn.records().put_bin(anchor, {bin.id});
    auto account = make_account(bin.id, counted ? dir->account : root->account);
    account->makes = UsageClass::kRecycled;
    account->anchor = dir->account;
    note_levels(dir->account, 1);
    txn.new_inode(std::move(bin), std::move(account));
    txn.put_inode(dir, std::move(next), Seen::kNo);
    STOA_CHECK_OK(txn.commit());
    return true;
  });
  if (!made) return fail(made.error());
  return {};
}

Status make_shelf(Tree& tree, const OpContext& caller, const NodeRef& bin, std::string_view name) {
  const OpContext ctx = own_context();
  const auto made = run_mutation(tree, ctx, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {bin}));
    if (bin->deleted) return false;
    STOA_TRY(present, find_form(tree, *bin, name, true));
    if (present.exists()) return false;
    MetaTxn txn(tree, ctx);
    STOA_TRY(shelf, make_directory(tree, txn, bin->id));
    shelf.mode = kShelfMode;
    shelf.uid = caller.cred.uid;
    shelf.gid = caller.cred.gid;
    Inode bin_next = bin->record;
    txn.insert_unique_entry(bin, bin_next, name, shelf.id, FileType::kDirectory);  // nobody else puts anything in a bin
    txn.put_inode(bin, std::move(bin_next));
    auto account = make_account(shelf.id, bin->account);
    note_levels(bin->account, 1);
    txn.new_inode(std::move(shelf), std::move(account));
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
  // What is an alias where it was would be the alias of something else here.
  if (!is_plain_name(name)) name.insert(name.begin(), '_');
  const std::string tail = "@" + hex(serial);
  if (name.size() + tail.size() > kNameBytesMax) {
    std::size_t cut = kNameBytesMax - tail.size();
    while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) --cut;  // not within a character
    name.resize(cut);
  }
  return name + tail;
}

// The entry on the shelf and the record of the item.
Status stage_item(Tree& tree, const OpContext& ctx, MetaTxn& txn, const Shelf& shelf, const Inode& inode,
                  const DeletedName& name) {
  STOA_TRY(id, tree.next_id());
  const auto serial = static_cast<std::uint64_t>(id);
  const ItemRecord item{.id = inode.id,
                        .type = inode.type,
                        .name = name_in_bin(name.raw, serial),
                        .parent = name.dir,
                        .raw = std::string(name.raw),
                        .base = name.base,
                        .below = name.below,
                        .uid = ctx.cred.uid,
                        .door = ctx.door,
                        .client = ctx.client,
                        .time = txn.now(),
                        .bytes = inode.type == FileType::kRegular ? inode.size : 0};
  Inode shelf_next = shelf.node->record;
  // Its serial is in the name, and nobody else puts anything on a shelf.
  txn.insert_unique_entry(shelf.node, shelf_next, item.name, inode.id, inode.type);
  txn.put_inode(shelf.node, std::move(shelf_next));
  txn.records().put_item(shelf.bin, serial, item);
  return {};
}

// What is charged below the empty directory and moves with it: its marker, and its own bin.
Result<Usage> usage_within(Tree& tree, const Node& victim) {
  Usage within;
  if (victim.record.entries != 0) {
    STOA_TRY(entry, find_form(tree, victim, "", false));
    STOA_TRY(marker, tree.nodes.get(entry.id));
    within = usage_of(marker->record);
  }
  if (!victim.record.has(kHasBin)) return within;
  STOA_TRY(bin, bin_of(tree, victim.id));
  STOA_TRY(node, tree.nodes.get(bin));
  if (node->account->parent == victim.account) within = within + tree.ledger.read(node->account).usage;
  return within;
}

// Whether nothing is below the locked directory, and nothing is said of it, that its account would have to take along.
bool is_bare(const Tree& tree, const Node& dir) {
  if (dir.record.entries != 0 || dir.record.has(kHasBin)) return false;
  const UsageRecord known = tree.ledger.read(dir.account);
  return is_zero(known.usage) && !has_quota(known);
}

enum class Shelved { kYes, kCannot, kNotAlone };

Result<Shelved> shelve_directory(Tree& tree, const OpContext& ctx, MetaTxn& txn, const Shelf& shelf,
                                 const NodeRef& victim, const DeletedName& name, bool alone) {
  STOA_CHECK_OK(require_empty(tree, victim));
  if (is_bare(tree, *victim)) {
    STOA_CHECK_OK(txn.move_bare_directory(victim, make_account(victim->id, shelf.node->account)));
  } else if (!alone) {
    return Shelved::kNotAlone;
  } else {
    STOA_TRY(within, usage_within(tree, *victim));
    if (tree.ledger.read(victim->account).usage != within) return Shelved::kCannot;
    const Status moved = txn.move_directory(victim, shelf.node->account, usage_of(victim->record));
    if (!moved && moved.error().code == Errc::kCrossDevice)
      return fail(Errc::kNotEmpty, "its recycle bin is not empty");
    STOA_CHECK_OK(moved);
  }
  Inode next = victim->record;
  next.home = shelf.node->id;
  next.touch(txn.now());
  STOA_CHECK_OK(stage_item(tree, ctx, txn, shelf, next, name));
  txn.put_inode(victim, std::move(next));
  return Shelved::kYes;
}

Shelf known_shelf(Tree& tree, FileId anchor, std::uint32_t uid) {
  RecycleState::KnownShelf known{};
  {
    const std::lock_guard lock(tree.recycle.mutex);
    const auto it = tree.recycle.shelves.find({anchor, uid});
    if (it == tree.recycle.shelves.end()) return {};
    known = it->second;
  }
  auto node = tree.nodes.get(known.shelf);
  if (!node) return {};
  return {anchor, known.bin, std::move(*node)};
}

void remember_shelf(Tree& tree, const std::pair<FileId, std::uint32_t>& of, const RecycleState::KnownShelf& known) {
  const std::lock_guard lock(tree.recycle.mutex);
  if (tree.recycle.shelves.size() == RecycleState::kShelvesMax) tree.recycle.shelves.clear();
  tree.recycle.shelves.insert_or_assign(of, known);
}

}  // namespace

Result<FileId> bin_of(Tree& tree, FileId dir) {
  std::string value;
  STOA_TRY(found, tree.kv.get(Family::kTrash, keys::anchor_key(dir), &value));
  if (!found) return kNoFile;
  STOA_TRY(anchor, AnchorRecord::decode(value));
  return anchor.bin;
}

Result<std::vector<Bin>> bins_below(Tree& tree, FileId dir) {
  STOA_TRY(top, tree.nodes.get(dir));
  {
    const std::shared_lock lock(top->lock);
    STOA_CHECK_OK(require_directory(*top));
  }
  std::vector<Bin> bins;
  const std::string prefix(keys::kAnchorPrefix);
  const auto it = tree.kv.scan(Family::kTrash, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    STOA_TRY(record, AnchorRecord::decode(it->value()));
    const auto anchor = tree.nodes.get(keys::id_of(it->key().substr(prefix.size())));
    const auto node = tree.nodes.get(record.bin);
    if (!anchor || !node) continue;  // gone since the walk began
    const std::shared_lock chain(tree.tree_lock);
    AccountRef at = (*anchor)->account_now();
    while (at != nullptr && at->dir != dir) at = at->above();
    if (at != nullptr) bins.push_back({*anchor, *node});
  }
  STOA_CHECK_OK(it->status());
  return bins;
}

Result<bool> has_bins(Tree& tree) {
  const auto it = tree.kv.scan(Family::kTrash, {}, {});
  STOA_CHECK_OK(it->status());
  return it->valid();
}

Kept find_policy(const RecycleTable& table, const AccountRef& account) {
  Kept kept;
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (a->makes != UsageClass::kLive) return {};
    if (kept.anchor == kNoFile && table.has_own_bin(a->dir)) kept.anchor = a->dir;
    kept.policy = table.find(a->dir);
    if (kept.policy != nullptr) return kept;
  }
  return {};
}

Result<Shelf> prepare_shelf(Tree& tree, const OpContext& ctx, const NodeRef& dir, const std::function<Status()>& may) {
  if (tree.recycle.registry == nullptr || ctx.read_only) return Shelf{};
  const auto snapshot = tree.recycle.registry->snapshot();
  if (snapshot->recycle() == nullptr) return Shelf{};
  const Kept kept = [&] {
    const std::shared_lock chain(tree.tree_lock);
    return find_policy(*snapshot->recycle(), dir->account_now());
  }();
  if (kept.policy == nullptr || !kept.policy->enabled) return Shelf{};
  if (Shelf known = known_shelf(tree, kept.anchor, ctx.cred.uid)) return known;
  const std::string name = std::to_string(ctx.cred.uid);
  for (int look = 0; look < kLooksMax; ++look) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    STOA_TRY(bin, bin_of(tree, kept.anchor));
    if (bin == kNoFile) {
      STOA_CHECK_OK(may());
      STOA_CHECK_OK(make_bin(tree, kept.anchor, kept.policy->counted));
      continue;
    }
    // Empty bins and shelves may go at any time: then it is made again.
    const auto bin_node = tree.nodes.get(bin);
    if (!bin_node && bin_node.error().code == Errc::kStale) continue;
    STOA_CHECK_OK(bin_node);
    EntryRecord entry;
    {
      const std::shared_lock lock((*bin_node)->lock);
      if ((*bin_node)->deleted) continue;
      STOA_TRY(found, find_form(tree, **bin_node, name, true));
      entry = found;
    }
    if (!entry.exists()) {
      STOA_CHECK_OK(may());
      STOA_CHECK_OK(make_shelf(tree, ctx, *bin_node, name));
      continue;
    }
    auto node = tree.nodes.get(entry.id);
    if (!node && node.error().code == Errc::kStale) continue;
    STOA_CHECK_OK(node);
    remember_shelf(tree, {kept.anchor, ctx.cred.uid}, {bin, entry.id});
    return Shelf{kept.anchor, bin, std::move(*node)};
  }
  return fail(Errc::kCorrupt, "the recycle bin is damaged");
}

bool still_kept(Tree& tree, const Shelf& shelf, const Node& dir) {
  if (!shelf) return true;
  if (shelf.node->deleted) return false;
  const auto snapshot = tree.recycle.registry->snapshot();
  if (snapshot->recycle() == nullptr) return false;
  const Kept kept = find_policy(*snapshot->recycle(), dir.account);
  return kept.policy != nullptr && kept.policy->enabled && kept.anchor == shelf.anchor;
}

Status shelve_link(Tree& tree, const OpContext& ctx, MetaTxn& txn, const Shelf& shelf, const NodeRef& node,
                   const DeletedName& name) {
  Inode next = node->record;
  next.touch(txn.now());
  OtherHome home{shelf.node, true};
  if (next.links > 1) {
    STOA_TRY(other, other_home(tree, node->id, name.dir, name.raw));
    if (!other.in_bin) home = other;
  }
  AccountRef account = node->account;
  // It stays charged where it is as long as that is the directory of a live name; or when there is no room
  // (drop_link.h).
  if (home.in_bin || next.home == name.dir) {
    const Status moved =
        txn.move_charge(node, {home.dir->account, node->payer().owner, node->id}, usage_of(node->record));
    if (moved) {
      next.home = home.dir->id;
      account = home.dir->account;
    } else if (moved.error().code != Errc::kQuota) {
      return moved;
    }
  }
  STOA_CHECK_OK(stage_item(tree, ctx, txn, shelf, next, name));
  txn.put_inode(node, std::move(next));
  // After put_inode, which commits lazily reserved bytes where they were reserved.
  txn.set_account(node, std::move(account));
  return {};
}

Result<bool> remove_or_shelve_directory(Tree& tree, const OpContext& ctx, MetaTxn& txn, const Shelf& shelf,
                                        const NodeRef& victim, const DeletedName& name, bool alone) {
  if (shelf) {
    STOA_TRY(shelved, shelve_directory(tree, ctx, txn, shelf, victim, name, alone));
    if (shelved != Shelved::kCannot) return shelved == Shelved::kYes;
  }
  STOA_CHECK_OK(stage_remove_directory(tree, txn, victim));
  return true;
}

Status shelve_content(Tree& tree, const OpContext& ctx, MetaTxn& txn, const Shelf& shelf, const NodeRef& node,
                      const DeletedName& name) {
  Inode old = node->record;
  STOA_TRY(id, tree.next_id());
  old.id = id;
  old.links = 1;
  old.home = shelf.node->id;
  old.touch(txn.now());
  const Payer payer{shelf.node->account, {old.uid, old.gid}, old.id};
  STOA_CHECK_OK(txn.reserve(payer, usage_of(old)));
  if (old.has(kContentInline)) {
    STOA_TRY(bytes, load_inline(tree, node->id));
    stage_inline(txn, old.id, bytes);
  }
  for (const Extent& extent : old.layout.extents) txn.reference(extent.blob, +1);
  std::string present;
  STOA_TRY(being_written, tree.kv.get(Family::kState, keys::open_key(node->id), &present));
  if (being_written) txn.records().mark_open(old.id);
  if (old.has(kHasXattrs)) {
    const std::string prefix = keys::id_key(node->id);
    const auto it = tree.kv.scan(Family::kXattr, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      const std::string_view attribute = keys::after_id(it->key());
      if (attribute != keys::kAclXattr) txn.records().put_xattr(old.id, attribute, it->value());
    }
    STOA_CHECK_OK(it->status());
  }
  STOA_CHECK_OK(stage_item(tree, ctx, txn, shelf, old, name));
  const NodeRef made = txn.new_inode(std::move(old), shelf.node->account);
  made->marked_open = being_written;
  return {};
}

Result<std::pair<RecycleItemId, ItemRecord>> item_of(Tree& tree, FileId bin, std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos) return fail(Errc::kNotFound);
  RecycleItemId item{bin, 0};
  const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), item.serial, 16);
  if (error != std::errc{} || end != name.data() + name.size()) return fail(Errc::kNotFound);
  STOA_TRY(record, read_item(tree, item));
  if (record.name != name) return fail(Errc::kNotFound);
  return std::pair{item, std::move(record)};
}

Result<ItemRecord> read_item(Tree& tree, const RecycleItemId& item) {
  std::string value;
  STOA_TRY(found, tree.kv.get(Family::kTrash, keys::item_key(item.bin, item.serial), &value));
  if (!found) return fail(Errc::kNotFound, kNoSuchItem);
  return ItemRecord::decode(value);
}

Result<NodeRef> shelf_of(Tree& tree, FileId bin, const ItemRecord& item) {
  STOA_TRY(node, tree.nodes.get(bin));
  FileId shelf = kNoFile;
  {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_live(*node));
    STOA_TRY(entry, find_form(tree, *node, std::to_string(item.uid), true));
    shelf = entry.id;
  }
  if (shelf == kNoFile) return fail(Errc::kStale);
  return tree.nodes.get(shelf);
}

}  // namespace stoa::core

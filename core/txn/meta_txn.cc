#include "core/txn/meta_txn.h"

#include <algorithm>
#include <array>

#include "base/debug_assert.h"
#include "core/inode/acl_record.h"
#include "core/inode/inode_usage.h"
#include "core/kv/keys.h"
#include "core/txn/covered.h"
#include "core/txn/depth.h"
#include "core/txn/in_bin.h"
#include "core/txn/node_name.h"

namespace stoa::core {

namespace {

// Whether a thread, which should be this one, has the lock alone. Held so, it is only looked at.
bool is_locked(RwLock& lock) {
  if (!lock.try_lock_shared()) return true;
  lock.unlock_shared();
  return false;
}

}  // namespace

MetaTxn::~MetaTxn() {
  STOA_ASSERT(!committed_ || records_.empty(), "nothing is put behind the commit");
  if (committed_) return;
  volume_.ledger.cancel(reservations_);
}

void MetaTxn::put_acl(Inode& next) {
  if (next.acl == nullptr) {
    records_.remove_xattr(next.id, keys::kAclXattr);
    return;
  }
  records_.put_xattr(next.id, keys::kAclXattr, encode_acl(*next.acl));
  next.acl = volume_.nodes.counted(std::move(next.acl));
  has_acls_ = true;
}

void MetaTxn::put_inode(const NodeRef& node, Inode next, Visible visible) {
  STOA_ASSERT(next.id == node->id, "a record is its file's");
  STOA_ASSERT(!node->deleted, "a file that is gone does not change");
  STOA_ASSERT(is_locked(node->lock), "a file that changes is locked");
  STOA_ASSERT(next.type == node->record.type, "a file keeps its type");
  STOA_ASSERT(next.change >= node->record.change, "the change counter never goes back");
  STOA_ASSERT(next.next_cookie >= node->record.next_cookie, "no cookie is given twice");
  if (next.acl != node->record.acl) put_acl(next);
  records_.put_inode(next);
  if (!is_zero(node->pending)) commit_pending(node->charge_target(), node->pending);
  publications_.push_back({node, std::move(next), false, visible});
}

NodeRef MetaTxn::new_inode(Inode record, Chains chains) {
  STOA_ASSERT(record.id != kNoFile, "a new file has an id");
  STOA_ASSERT(chains.account != nullptr && chains.ancestry != nullptr, "a new file counts in a directory");
  if (record.acl != nullptr) put_acl(record);
  records_.put_inode(record);
  auto node = std::make_shared<Node>(record.id);
  node->record = std::move(record);
  node->account = std::move(chains.account);
  node->ancestry = std::move(chains.ancestry);
  created_.push_back(node);
  return node;
}

void MetaTxn::set_chains(const NodeRef& node, Chains chains) {
  STOA_ASSERT((chains.account == nullptr) == (chains.ancestry == nullptr),
              "a file counts and lies in a directory, or none");
  STOA_ASSERT(chains.account == nullptr || chains.account->dir == chains.ancestry->dir, "a file counts where it lies");
  chains_.push_back({node, std::move(chains)});
}

Status MetaTxn::delete_inode(const NodeRef& node, Visible visible) {
  STOA_ASSERT(!node->deleted, "a file goes once");
  STOA_ASSERT(is_locked(node->lock), "a file that goes is locked");
  records_.remove_inode(node->id);
  if (node->record.is_directory()) {
    const UsageRecord known = volume_.ledger.read(node->account);
    if (has_quota(known)) records_.mark_quota(node->id, false);
    if (known.owners == OwnersCounted::kBeingCounted) records_.mark_counting(node->id, false);
    account_changes_.push_back({.account = node->account, .ends = true});
  }
  if (node->record.has(kHasXattrs)) {
    const std::string key = keys::id_key(node->id);
    const auto it = volume_.kv.scan(Family::kXattr, key, keys::behind_prefix(key));
    for (; it->valid(); it->next()) records_.remove_xattr(node->id, keys::after_id(it->key()));
    STOA_CHECK_OK(it->status());
  }
  if (node->record.has(kHasAcl)) records_.remove_xattr(node->id, keys::kAclXattr);
  if (!is_zero(node->pending)) commit_pending(node->charge_target(), node->pending);
  publications_.push_back({node, {}, true, visible});
  return {};
}

void MetaTxn::publish_entry(FileId dir, std::string_view raw, bool directory, const EntryRecord& record, FileId gone) {
  entry_changes_.push_back({keys::id_name(dir, keys::stored_name(raw, directory)), record, gone});
}

Status MetaTxn::insert_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, FileId id, FileType type,
                             std::uint64_t cookie) {
  const bool directory = type == FileType::kDirectory;
  EntryRecord record{.id = id, .type = type, .flags = 0, .cookie = cookie != 0 ? cookie : dir_next.next_cookie++};
  // The other form of the name: the file among the two gets an alias for POSIX protocols.
  STOA_TRY(other, find_form(volume_, *dir, raw, !directory));
  if (other.exists() && directory) {
    other.flags |= kHiddenByDirectory;
    records_.change_entry(dir->id, raw, other);
    publish_entry(dir->id, raw, false, other);
  } else if (other.exists()) {
    record.flags |= kHiddenByDirectory;
  }
  name_bytes_ += static_cast<std::int64_t>(raw.size());
  put_entry(dir->id, dir_next, raw, record);
  return {};
}

void MetaTxn::insert_unique_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, FileId id, FileType type,
                                  std::uint64_t cookie) {
  if (cookie == 0) cookie = dir_next.next_cookie++;
  put_entry(dir->id, dir_next, raw, {.id = id, .type = type, .flags = 0, .cookie = cookie});
}

void MetaTxn::put_entry(FileId dir, Inode& dir_next, std::string_view raw, const EntryRecord& record) {
  STOA_ASSERT(record.exists(), "a name leads to a file");
  STOA_ASSERT(dir_next.id == dir, "a name goes into the record of its directory");
  STOA_ASSERT(dir_next.is_directory(), "only directories have names");
  const bool directory = record.type == FileType::kDirectory;
  named_.push_back({record.id, record.type});
  records_.put_entry(dir, raw, record);
  publish_entry(dir, raw, directory, record);
  ++dir_next.entries;
  if (directory) ++dir_next.links;
  dir_next.touch_content(now_);
}

Status MetaTxn::remove_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, const EntryRecord& record) {
  STOA_ASSERT(record.exists(), "a name leads to a file");
  STOA_ASSERT(dir_next.id == dir->id, "a name leaves the record of its directory");
  STOA_ASSERT(dir_next.is_directory(), "only directories have names");
  if (dir_next.entries == 0) return fail(Errc::kCorrupt, "a directory counts fewer names than it has");
  const bool directory = record.type == FileType::kDirectory;
  renamed_.push_back(record.id);
  name_bytes_ -= static_cast<std::int64_t>(raw.size());
  named_.push_back({record.id, record.type});
  records_.remove_entry(dir->id, raw, record);
  publish_entry(dir->id, raw, directory, EntryRecord{}, record.id);
  if (directory) {
    STOA_TRY(file, find_form(volume_, *dir, raw, false));
    if (file.exists()) {
      file.flags &= static_cast<std::uint8_t>(~kHiddenByDirectory);
      records_.change_entry(dir->id, raw, file);
      publish_entry(dir->id, raw, false, file);
    }
    --dir_next.links;
  }
  --dir_next.entries;
  dir_next.touch_content(now_);
  return {};
}

Status MetaTxn::reserve(const ChargeTarget& target, const Usage& delta) {
  STOA_CHECK_OK(volume_.ledger.reserve(reservations_, {{target, delta}}));
  charges_.push_back({target, delta});
  return {};
}

void MetaTxn::release(const ChargeTarget& target, const Usage& delta) {
  STOA_ASSERT(!is_negative(delta), "what is released was charged");
  // A decrease is never refused.
  (void)volume_.ledger.reserve(reservations_, {{target, -delta}});
  charges_.push_back({target, -delta});
}

Status MetaTxn::move_charge(const NodeRef& node, const ChargeTarget& to, const Usage& usage) {
  const ChargeTarget from = node->charge_target();
  if (from.account == to.account && from.owner == to.owner && from.of == to.of) return {};
  return move(from, to, usage, promised(*node));
}

Status MetaTxn::change_attribute_bytes(const NodeRef& node, Inode& next, std::uint64_t from, std::uint64_t to) {
  STOA_DEBUG_ASSERT(next.attribute_bytes + to >= from, "attributes that go were counted");
  next.attribute_bytes = next.attribute_bytes + to - from;
  const ChargeTarget target = next.is_directory() ? node->charge_target_of_directory() : node->charge_target();
  if (to > from) return reserve(target, {.bytes = static_cast<std::int64_t>(to - from)});
  if (to < from) release(target, {.bytes = static_cast<std::int64_t>(from - to)});
  return {};
}

Status MetaTxn::move_owner(const NodeRef& dir, const Owner& to, const Usage& itself) {
  const ChargeTarget from = dir->charge_target_of_directory();
  return move(from, {from.account, to, dir->id, from.of}, itself, {});
}

Status MetaTxn::reserve_move(const ChargeTarget& from, const ChargeTarget& to, const Usage& reserved) {
  if (!exchanging_) return volume_.ledger.reserve(reservations_, {{from, -reserved}, {to, reserved}});
  arrivals_.push_back({to, reserved});
  return volume_.ledger.reserve(reservations_, {{from, -reserved}});  // what only shrinks is never refused
}

Status MetaTxn::end_exchange() {
  exchanging_ = false;
  for (const Charge& arrival : arrivals_) STOA_CHECK_OK(volume_.ledger.reserve(reservations_, {arrival}));
  arrivals_.clear();
  return {};
}

Status MetaTxn::move(const ChargeTarget& from, const ChargeTarget& to, const Usage& usage, const Usage& uncommitted) {
  const Usage reserved = usage + uncommitted;
  STOA_CHECK_OK(reserve_move(from, to, reserved));
  charges_.push_back({from, -usage});
  charges_.push_back({to, usage});
  return {};
}

void MetaTxn::end_charge(const NodeRef& node, const Usage& usage) {
  (void)volume_.ledger.reserve(reservations_, {{node->charge_target(), -(usage + promised(*node))}});
  charges_.push_back({node->charge_target(), -usage});
}

Status MetaTxn::move_directory(const NodeRef& dir, const NodeRef& parent, const Usage& itself) {
  const AccountRef& to = parent->account;
  STOA_ASSERT(dir->record.is_directory(), "only directories have an account that moves");
  STOA_ASSERT(dir->account != to, "no directory lies in itself");
  STOA_DEBUG_ASSERT(is_locked(volume_.tree_lock), "a directory changes parents with the tree for itself");
  const bool is_bin = dir->ancestry->kind == Ancestry::Kind::kBin;
  // Owners below a directory that changes its class with it are known only from a scan of it, so uploads do not move.
  if (lies_in_upload(dir->ancestry) || lies_in_upload(parent->ancestry))
    return fail(Errc::kInvalid, "directories of a multipart upload stay where they are");
  if (!is_bin) STOA_CHECK_OK(require_depth_of_move(volume_, *dir, *parent));
  note_levels(to, 1 + levels_below(volume_, dir->account));
  // The committed side is complete only when nothing is queued; the exclusive tree lock keeps it so.
  STOA_CHECK_OK(volume_.committer.wait_applied(ctx_.deadline));
  moves_.push_back({dir, parent});
  checkpoints_ = true;
  ChargeTarget from = dir->charge_target_of_directory();
  const UsageRecord below = volume_.ledger.read(dir->account);
  if (!is_zero(below.usage) && volume_.ledger.owners_counted_between(from.account, to)) return fail(Errc::kCrossDevice);
  // Reservations of lazy writes below that are not committed yet follow with their own commits, up the new chain.
  const Counters& committed = dir->account->committed.total;
  Usage live = below.counted(kAllButLive) + itself,
        live_committed = committed.used + -sum_of(committed.by_class(), kAllButLive) + itself;
  // The counts of owners below it stay the same, unless the move changes whether it is recycled. A directory that goes
  // into a bin, or comes out of it, has nothing that is live but its folder marker.
  if (dir->record.entries != 0 && !is_bin && in_bin(volume_, dir->ancestry) != in_bin(volume_, parent->ancestry)) {
    STOA_TRY(entry, find_form(volume_, *dir, "", false));
    if (entry.exists()) {
      STOA_TRY(marker, volume_.nodes.get(entry.id));
      // No thread changes a file while this one holds the tree lock exclusively.
      const Usage usage = usage_of(marker->record), uncommitted = promised(*marker);
      const ChargeTarget owner{from.account, marker->charge_target().owner, marker->id};
      STOA_CHECK_OK(move_below(owner, to, usage + uncommitted, usage + -marker->pending));
      live = live + -(usage + uncommitted);
      live_committed = live_committed + -(usage + -marker->pending);
    }
  }
  STOA_CHECK_OK(move_below(from, to, live, live_committed));
  for (const UsageClass of : kClassesButLive) {
    from.of = of;
    STOA_CHECK_OK(move_below(from, to, below.by_class[of], committed.by_class()[of]));
  }
  return {};
}

Status MetaTxn::move_bare_directory(const NodeRef& dir, const NodeRef& to) {
  STOA_ASSERT(dir->record.is_directory() && dir->record.entries == 0, "a bare directory has no names");
  STOA_ASSERT(!dir->record.has(kHasBin), "a bare directory has no bin");
  STOA_DEBUG_ASSERT(is_zero(volume_.ledger.read(dir->account).usage), "a bare directory counts nothing");
  const ChargeTarget from = dir->charge_target_of_directory();
  STOA_CHECK_OK(move(from, {to->account, from.owner, dir->id}, usage_of(dir->record), {}));
  note_levels(to->account, 1);
  set_chains(dir, new_chains(dir->id, to->chains()));
  checkpoints_ = true;
  return {};
}

Status MetaTxn::move_below(const ChargeTarget& from, const AccountRef& to, const Usage& reserved,
                           const Usage& committed) {
  ChargeTarget onto = from;
  onto.account = to;
  if (!is_zero(reserved)) STOA_CHECK_OK(reserve_move(from, onto, reserved));
  if (is_zero(committed)) return {};
  charges_.push_back({from, -committed});
  charges_.push_back({onto, committed});
  return {};
}

Status MetaTxn::give_child_limits(const AccountRef& child, const AccountRef& parent) {
  const QuotaLimits limits = volume_.ledger.read(parent).child_limits;
  if (!limits.says_anything()) return {};
  const UsageRecord known = volume_.ledger.read(child);
  if (known.limits.says_anything()) return {};
  const Usage counted = known.counted(limits.excluded);
  const bool beyond =
      (limits.bytes && counted.bytes > *limits.bytes) || (limits.files && files_of(counted) > *limits.files);
  if (beyond) return fail(Errc::kQuota);
  change_account({.account = child, .limits = limits});
  return {};
}

void MetaTxn::change_account(AccountChange change) {
  UsageRecord next = volume_.ledger.read(change.account);
  next.limits = change.limits.value_or(next.limits);
  next.child_limits = change.child_limits.value_or(next.child_limits);
  const bool was_counting = next.owners == OwnersCounted::kBeingCounted;
  next.owners = change.owners.value_or(next.owners);
  const bool counting = next.owners == OwnersCounted::kBeingCounted;
  if (counting || was_counting) records_.mark_counting(change.account->dir, counting);
  records_.mark_quota(change.account->dir, has_quota(next));
  account_changes_.push_back(std::move(change));
}

Status MetaTxn::break_leases() {
  // One question for all of them, so that all are recalled together.
  constexpr std::size_t kMost = 8;
  std::array<Touched, kMost> files;
  std::size_t count = 0;
  Status may;
  if (!volume_.state.asks_of_changes(ctx_)) return {};
  const auto add = [&](const Touched& file) {
    files[count++] = file;
    if (count < kMost) return;
    if (const Status some = volume_.state.before_mutate(ctx_, files); !some) may = some;
    count = 0;
  };
  for (const Publication& p : publications_) {
    if (p.visible == Visible::kNo) continue;
    const Inode& record = p.node->record;
    STOA_TRY(file, touched(volume_, record));
    add(file);
    // With a single name left it is covered from now on: no cache may rest on what it was before.
    if (!p.remove && !record.is_directory() && record.links > 1 && p.next.links == 1) {
      if (!p.next.has(kCountsElsewhere)) {
        add({.file = record.id, .directory = p.next.parent});
      } else {  // which of its names stays is in no record: those of both directories
        STOA_TRY(directories, directories_of_names(volume_, record.id));
        for (const FileId directory : directories) add({.file = record.id, .directory = directory});
      }
    }
  }
  if (const Status some = volume_.state.before_mutate(ctx_, std::span(files).first(count)); !some) may = some;
  if (const Status names = volume_.state.before_name_goes(ctx_, renamed_); !names) may = names;
  if (!may) return may;
  for (const EntryChange& change : entry_changes_) {
    if (change.record.exists()) volume_.state.name_comes(change.record.id, keys::id_of(change.key));
  }
  return may;
}

Status MetaTxn::note_change(const NodeRef& node, JournalNote note, const OpContext& by) {
  STOA_CHECK_OK(find_name(volume_, *node));
  note.id = node->id;
  note.parent = node->name.parent;
  note.name = node->name.raw;
  this->note(note, by);
  return {};
}

// Names that went first: a rename gives the file another one.
void MetaTxn::publish_name(Node& node) const {
  const auto stored = [](const EntryChange& change, bool directory) {
    const std::string_view name = keys::after_id(change.key);
    return directory ? name.substr(0, name.size() - 1) : name;
  };
  const bool directory = node.record.is_directory();
  for (const EntryChange& change : entry_changes_) {
    if (change.gone != node.id || node.name.parent != keys::id_of(change.key)) continue;
    if (node.name.raw == stored(change, directory)) node.name = {};
  }
  for (const EntryChange& change : entry_changes_) {
    if (change.record.id != node.id || node.name.parent != kNoFile) continue;
    node.name = {keys::id_of(change.key), std::string(stored(change, directory))};
  }
}

std::vector<std::string> MetaTxn::journal() const {
  std::vector<std::string> records;
  records.reserve(notes_.size());
  for (const auto& [note, by] : notes_) {
    const auto named =
        note.parent == kNoFile ? named_.end() : std::ranges::find(named_, note.id, &std::pair<FileId, FileType>::first);
    JournalNote whole = note;
    if (named != named_.end()) whole.type = named->second;
    records.push_back(encode_note(whole, *by, now_));
  }
  return records;
}

Result<CommitTicket> MetaTxn::commit() {
  STOA_ASSERT(!committed_, "a transaction is committed once");
  STOA_ASSERT(!records_.empty() || (publications_.empty() && created_.empty()), "a batch is used once");
  STOA_CHECK_OK(fault_point(volume_.options.faults, "txn.commit"));
  STOA_CHECK_OK(volume_.room.admit(records_.batch(), name_bytes_));
  STOA_CHECK_OK(break_leases());
  // The references are copied: their effect on the data path follows below.
  STOA_TRY(ticket, volume_.committer.commit({.batch = records_.take(),
                                             .charges = std::move(charges_),
                                             .account_changes = account_changes_,
                                             .references = references_,
                                             .journal = journal(),
                                             .checkpoints = checkpoints_},
                                            ctx_.deadline));
  committed_ = true;
  volume_.ledger.confirm(reservations_);
  for (const AccountChange& change : account_changes_) volume_.ledger.apply(change);
  for (const BlobReference& reference : references_) {
    if (reference.delta > 0) {
      volume_.in_flight.untrack(reference.blob);
    } else {
      volume_.in_flight.garbage.store(true, std::memory_order_release);
    }
  }
  for (const NodeRef& node : forgotten_) {
    STOA_ASSERT(node->writing != nullptr, "what is forgotten was written");
    Writing& writing = *node->writing;
    for (const Extent& extent : writing.fresh.extents) volume_.in_flight.abandon(extent.blob);
    writing.fresh.extents.clear();
    writing.unsynced.clear();
    writing.rows.clear();
    writing.replaces_inline = false;
  }
  for (const NodeRef& node : created_) {
    node->ticket = ticket;
    publish_name(*node);
    volume_.nodes.insert(node);
  }
  for (Publication& p : publications_) {
    const Writing* const writing = p.node->writing.get();
    p.node->dirty = writing != nullptr && (!writing->fresh.empty() || !writing->unsynced.empty());
    p.node->pending = {};
    p.node->ticket = ticket;
    if (p.remove) {
      p.node->deleted = true;
      if (p.node->record.is_directory() && !is_zero(volume_.ledger.read(p.node->account).usage)) {
        volume_.nodes.end(p.node);
      } else {
        volume_.nodes.erase(p.node->id);
      }
    } else {
      p.node->record = std::move(p.next);
      publish_name(*p.node);
    }
  }
  for (auto& [node, chains] : chains_) {
    const std::lock_guard lock(node->loading);
    node->account.swap(chains.account);
    node->ancestry.swap(chains.ancestry);
    node->qos_classes.forget();
    node->reach.forget();
  }
  for (const auto& [dir, parent] : moves_) {
    volume_.ledger.set_parent(dir->account, parent->account);
    if (dir->ancestry->kind != Ancestry::Kind::kBin) volume_.nodes.move(dir->ancestry, parent->ancestry);
  }
  for (const EntryChange& change : entry_changes_) volume_.entries.set(change.key, change.record);
  if (has_acls_) volume_.nodes.trim();
  return ticket;
}

}  // namespace stoa::core

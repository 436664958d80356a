#include "core/namespace/meta_txn.h"

#include <array>

#include "core/access/acl_record.h"
#include "core/data/data_state.h"
#include "core/kv/keys.h"

namespace stoa::core {

MetaTxn::~MetaTxn() {
  if (committed_) return;
  for (const Charge& charge : reserved_) tree_.ledger.give_back(charge.account, charge.delta);
}

void MetaTxn::put_acl(Inode& next) {
  const std::string key = keys::id_name(next.id, keys::kAclXattr);
  if (next.acl == nullptr) {
    batch_.remove(Family::kXattr, key);
    return;
  }
  batch_.put(Family::kXattr, key, encode_acl(*next.acl));
  next.acl = tree_.nodes.counted(std::move(next.acl));
  has_acls_ = true;
}

void MetaTxn::put_inode(const NodeRef& node, Inode next, Seen seen) {
  if (next.acl != node->record.acl) put_acl(next);
  batch_.put(Family::kInode, keys::id_key(node->id), next.encode());
  if (!is_zero(node->pending)) commit_pending(node->account, node->pending);
  publications_.push_back({node, std::move(next), false, seen});
}

NodeRef MetaTxn::new_inode(Inode record, AccountRef account) {
  if (record.acl != nullptr) put_acl(record);
  batch_.put(Family::kInode, keys::id_key(record.id), record.encode());
  auto node = std::make_shared<Node>(record.id);
  node->record = std::move(record);
  node->account = std::move(account);
  created_.push_back(node);
  return node;
}

Status MetaTxn::delete_inode(const NodeRef& node, Seen seen) {
  const std::string key = keys::id_key(node->id);
  batch_.remove(Family::kInode, key);
  if (node->record.is_directory()) charges_.push_back({.account = node->account, .limits = QuotaLimits{}, .ends = true});
  if (node->record.has(kHasXattrs)) {
    const auto it = tree_.kv.scan(Family::kXattr, key, keys::behind_prefix(key));
    for (; it->valid(); it->next()) batch_.remove(Family::kXattr, it->key());
    STOA_CHECK_OK(it->status());
  }
  if (node->record.has(kHasAcl)) batch_.remove(Family::kXattr, keys::id_name(node->id, keys::kAclXattr));
  if (!is_zero(node->pending)) commit_pending(node->account, node->pending);
  publications_.push_back({node, {}, true, seen});
  return {};
}

void MetaTxn::set_entry(FileId dir, std::string_view raw, bool directory, const EntryRecord& record) {
  std::string key = keys::id_name(dir, raw);
  if (directory) key += '/';
  if (record.exists()) {
    batch_.put(Family::kEntry, key, record.encode());
  } else {
    batch_.remove(Family::kEntry, key);
  }
  entry_changes_.push_back({std::move(key), record});
}

Status MetaTxn::insert_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, FileId id, FileType type,
                             std::uint64_t cookie) {
  const bool directory = type == FileType::kDirectory;
  EntryRecord record{.id = id, .type = type, .flags = 0, .cookie = cookie != 0 ? cookie : dir_next.next_cookie++};
  // The other form of the name: whichever is the file has to step aside for POSIX doors.
  STOA_TRY(other, find_form(tree_, *dir, raw, !directory));
  if (other.exists() && directory) {
    other.flags |= kShadowed;
    set_entry(dir->id, raw, false, other);
    batch_.put(Family::kCookie, keys::cookie_key(dir->id, other.cookie),
               CookieRecord{other.id, other.type, other.flags, std::string(raw)}.encode());
  } else if (other.exists()) {
    record.flags |= kShadowed;
  }
  set_entry(dir->id, raw, directory, record);
  batch_.put(Family::kCookie, keys::cookie_key(dir->id, record.cookie),
             CookieRecord{id, type, record.flags, std::string(raw)}.encode());
  batch_.put(Family::kLink, keys::link_key(id, dir->id, keys::stored_name(raw, directory)), {});
  ++dir_next.entries;
  if (directory) ++dir_next.links;
  dir_next.touch_content(now_);
  return {};
}

Status MetaTxn::remove_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, const EntryRecord& record) {
  const bool directory = record.type == FileType::kDirectory;
  renamed_.push_back(record.id);
  set_entry(dir->id, raw, directory, EntryRecord{});
  batch_.remove(Family::kCookie, keys::cookie_key(dir->id, record.cookie));
  batch_.remove(Family::kLink, keys::link_key(record.id, dir->id, keys::stored_name(raw, directory)));
  if (directory) {
    STOA_TRY(file, find_form(tree_, *dir, raw, false));
    if (file.exists()) {
      file.flags &= static_cast<std::uint8_t>(~kShadowed);
      set_entry(dir->id, raw, false, file);
      batch_.put(Family::kCookie, keys::cookie_key(dir->id, file.cookie),
                 CookieRecord{file.id, file.type, file.flags, std::string(raw)}.encode());
    }
    --dir_next.links;
  }
  --dir_next.entries;
  dir_next.touch_content(now_);
  return {};
}

Status MetaTxn::reserve(const AccountRef& account, const Usage& delta) {
  STOA_CHECK_OK(tree_.ledger.reserve(account, delta));
  reserved_.push_back({account, delta});
  charges_.push_back({account, delta});
  return {};
}

void MetaTxn::release(const AccountRef& account, const Usage& delta) {
  tree_.ledger.give_back(account, delta);
  reserved_.push_back({account, -delta});
  charges_.push_back({account, -delta});
}

Status MetaTxn::move_charge(const AccountRef& from, const AccountRef& to, const Usage& delta) {
  if (from == to) return {};
  STOA_CHECK_OK(tree_.ledger.move(from, to, delta));
  reserved_.push_back({from, -delta});
  reserved_.push_back({to, delta});
  charges_.push_back({from, -delta});
  charges_.push_back({to, delta});
  return {};
}

Status MetaTxn::move_directory(const AccountRef& self, const AccountRef& from, const AccountRef& to) {
  // The committed side is complete only when nothing is queued; the exclusive tree lock keeps it so.
  STOA_CHECK_OK(tree_.committer.wait_applied());
  constexpr Usage kItself{.directories = 1};
  const Usage reserved = tree_.ledger.read(self).usage + kItself;
  STOA_CHECK_OK(tree_.ledger.move(from, to, reserved));
  reserved_.push_back({from, -reserved});
  reserved_.push_back({to, reserved});
  // What lazy writes below have reserved but not committed yet follows with their own commits, up the new chain.
  const Usage committed = self->committed + kItself;
  charges_.push_back({from, -committed});
  charges_.push_back({to, committed});
  return {};
}

void MetaTxn::set_limits(const AccountRef& account, const QuotaLimits& limits) {
  charges_.push_back({.account = account, .limits = limits});
}

Status MetaTxn::break_leases() {
  // All of them are asked for at once, so that all are recalled together.
  constexpr std::size_t kMost = 8;
  std::array<FileId, kMost> files;
  std::size_t count = 0;
  Status may;
  for (const Publication& p : publications_) {
    if (p.seen == Seen::kNo) continue;
    files[count++] = p.node->id;
    if (count < kMost) continue;
    if (const Status some = tree_.state.before_mutate(ctx_, files); !some) may = some;
    count = 0;
  }
  if (const Status some = tree_.state.before_mutate(ctx_, std::span(files).first(count)); !some) may = some;
  if (const Status names = tree_.state.before_name_goes(ctx_, renamed_); !names) may = names;
  return may;
}

Result<CommitTicket> MetaTxn::commit() {
  STOA_CHECK_OK(break_leases());
  // The references are a copy: what they mean for the data path follows below.
  STOA_TRY(ticket, tree_.committer.commit({.batch = std::move(batch_),
                                                 .charges = std::move(charges_),
                                                 .references = references_,
                                                 .journal = std::move(journal_)}));
  committed_ = true;
  for (const BlobReference& reference : references_) {
    if (reference.delta > 0) {
      tree_.data->untrack(reference.blob);
    } else {
      tree_.data->garbage.store(true, std::memory_order_release);
    }
  }
  for (const NodeRef& node : forgotten_) {
    Writing& writing = *node->writing;
    for (const Extent& extent : writing.fresh.extents) tree_.data->abandon(extent.blob);
    writing.fresh.extents.clear();
    writing.unsynced.clear();
    writing.replaces_inline = false;
  }
  for (const NodeRef& node : created_) {
    node->ticket = ticket;
    tree_.nodes.insert(node);
  }
  for (Publication& p : publications_) {
    const Writing* const writing = p.node->writing.get();
    p.node->dirty = writing != nullptr && (!writing->fresh.empty() || !writing->unsynced.empty());
    p.node->pending = {};
    p.node->ticket = ticket;
    if (p.remove) {
      p.node->deleted = true;
      if (p.node->record.is_directory()) tree_.ledger.set_limits(p.node->account, {});
      if (p.node->record.is_directory() && !is_zero(tree_.ledger.read(p.node->account).usage)) {
        tree_.nodes.end(p.node);
      } else {
        tree_.nodes.erase(p.node->id);
      }
    } else {
      p.node->record = std::move(p.next);
    }
  }
  for (auto& [node, account] : accounts_) node->account = std::move(account);
  for (const EntryChange& change : entry_changes_) tree_.entries.set(change.key, change.record);
  if (has_acls_) tree_.nodes.trim();
  return ticket;
}

}  // namespace stoa::core

#include "core/inode/node_cache.h"

#include "base/assert.h"
#include "core/inode/acl_record.h"
#include "core/kv/keys.h"

namespace stoa::core {

Result<Inode> load_inode(KvReader& kv, FileId id) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kInode, keys::id_key(id), &value));
  if (!found) return fail(Errc::kStale);
  return Inode::decode(id, value);
}

namespace {
std::size_t memory_of(const Acl& acl) {
  std::size_t bytes = sizeof acl + acl.entries.capacity() * sizeof(AclEntry);
  for (const AclEntry& entry : acl.entries) bytes += entry.who.text.capacity();
  return bytes;
}
}  // namespace

AclRef NodeCache::counted(AclRef acl) {
  if (acl == nullptr) return nullptr;
  const Acl* const plain = acl.get();
  const std::size_t bytes = memory_of(*plain);
  acl_bytes_->fetch_add(bytes, std::memory_order_relaxed);
  return AclRef(plain, [kept = std::move(acl), bytes, total = acl_bytes_](const Acl*) { total->fetch_sub(bytes); });
}

void NodeCache::trim() {
  for (Shard& shard : shards_) {
    if (acl_bytes() <= kAclBytesMax) return;
    const std::lock_guard lock(shard.mutex);
    evict_some(shard);
  }
}

Result<AclRef> NodeCache::load_acl(FileId id) {
  std::string value;
  STOA_TRY(found, kv_.get(Family::kXattr, keys::id_name(id, keys::kAclXattr), &value));
  if (!found) return fail(Errc::kCorrupt, "an ACL is missing");
  STOA_TRY(acl, decode_acl(value));
  return counted(std::make_shared<const Acl>(std::move(acl)));
}

Result<AccountRef> NodeCache::account_of(FileId dir) {
  STOA_TRY(chains, chains_of(dir, 0));
  return std::move(chains.account);
}

// Each directory is loaded after the one above it, and a tree may be deeper than a stack: beyond this depth from the
// top down.
Result<Chains> NodeCache::chains_of(FileId dir, unsigned nested) {
  constexpr unsigned kNestedMax = 64;
  std::vector<NodeRef> loaded;  // and kept until the last one is
  if (nested == kNestedMax) {
    STOA_TRY(missing, missing_above(dir));
    loaded.reserve(missing.size());
    for (std::size_t i = missing.size(); i-- > 0;) {
      STOA_TRY(node, find(missing[i], 0));
      loaded.push_back(std::move(node));
    }
  }
  STOA_TRY(node, find(dir, nested + 1));
  return node->chains_now();
}

void NodeCache::move(const AncestryRef& dir, const AncestryRef& to) {
  STOA_ASSERT(to != nullptr, "a directory that moves goes into another one");
  STOA_ASSERT(!lies_in(to, dir->dir), "no directory lies in itself");
  dir->above = to;
  moves_.fetch_add(1, std::memory_order_release);
}

Result<std::vector<FileId>> NodeCache::missing_above(FileId dir) {
  constexpr std::size_t kMissingMax = 1u << 20;
  std::vector<FileId> missing;
  for (FileId at = dir; at != kNoFile && peek(at) == nullptr;) {
    if (missing.size() == kMissingMax) return fail(Errc::kCorrupt, "directories lie in each other");
    missing.push_back(at);
    STOA_TRY(stored, read(at));
    at = stored.parent();
  }
  return missing;
}

// The directory with the account that counts it.
FileId NodeCache::Stored::counted_in() const {
  if (!inode) return usage.surviving_parent;
  if (!inode->is_directory()) return inode->parent;
  return inode->charged_to != kNoFile ? inode->charged_to : inode->has(kExcluded) ? kRootId : inode->parent;
}

// Its parent directory. For a directory that is gone, the store has only the one that it counts in.
FileId NodeCache::Stored::parent() const {
  if (inode) return inode->parent;
  return usage.upload ? kMultipartId : usage.surviving_parent;
}

Result<NodeCache::Stored> NodeCache::read(FileId id) {
  Stored stored;
  std::string value;
  STOA_TRY(found, kv_.get(Family::kInode, keys::id_key(id), &value));
  if (found) {
    STOA_TRY(inode, Inode::decode(id, value));
    stored.inode = std::move(inode);
    if (!stored.inode->is_directory()) return stored;
  }
  STOA_TRY(recorded, kv_.get(Family::kUsage, keys::id_key(id), &value));
  if (recorded) {
    STOA_TRY(usage, UsageRecord::decode(value));
    stored.usage = usage;
  }
  if (!found && stored.usage.surviving_parent == kNoFile) return fail(Errc::kStale);
  return stored;
}

Status NodeCache::load_owners(Account& account) {
  const std::string prefix = keys::id_key(account.dir);
  const auto it = kv_.scan(Family::kUsage, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    const auto owner = keys::owner_of(it->key());
    if (!owner) continue;
    STOA_TRY(record, UsageRecord::decode(it->value()));
    for (AccountCounters* counters : {&account.reserved, &account.committed}) {
      counters->owners->by_owner[{owner->of, owner->id}] = Counters::of(record, counters->excluded());
    }
  }
  return it->status();
}

Result<Node::State> NodeCache::load(Node& node, unsigned nested) {
  STOA_ASSERT(node.account == nullptr && node.ancestry == nullptr, "a node is loaded once");
  STOA_TRY(stored, read(node.id));
  const FileId counted_in = stored.counted_in();
  const bool found = stored.inode.has_value();
  if (found) {
    Inode& inode = *stored.inode;
    if (inode.has(kHasAcl)) {
      STOA_TRY(acl, load_acl(node.id));
      inode.acl = std::move(acl);
    }
    node.record = std::move(inode);
    if (!node.record.is_directory()) {
      if (counted_in != kNoFile) {
        STOA_TRY(chains, chains_of(counted_in, nested));
        node.account = std::move(chains.account);
        node.ancestry = std::move(chains.ancestry);
      }
      return Node::State::kReady;
    }
  }
  const UsageRecord& usage = stored.usage;
  auto account = std::make_shared<Account>();
  account->dir = node.id;
  for (AccountCounters* counters : {&account->reserved, &account->committed}) {
    counters->total = Counters::of(usage, usage.limits.excluded);
    counters->set_for_children(usage.child_limits);
    counters->begin_owners(usage.owners);
  }
  if (usage.owners != OwnersCounted::kNo) STOA_CHECK_OK(load_owners(*account));
  account->ended = !found;
  account->height.store(usage.height, std::memory_order_relaxed);
  const bool upload = found ? node.record.charged_to != kNoFile : usage.upload;
  account->child_class = upload                             ? UsageClass::kMultipart
                         : found && node.record.has(kIsBin) ? UsageClass::kRecycled
                                                            : UsageClass::kLive;
  const FileId parent = stored.parent();
  AncestryRef above;
  if (parent != kNoFile) {
    STOA_TRY(chains, chains_of(parent, nested));
    above = std::move(chains.ancestry);
    if (parent == counted_in) account->parent = std::move(chains.account);
  }
  if (parent != counted_in && counted_in != kNoFile) {
    STOA_TRY(chains, chains_of(counted_in, nested));
    account->parent = std::move(chains.account);
  }
  const auto kind = account->child_class == UsageClass::kMultipart  ? Ancestry::Kind::kUpload
                    : account->child_class == UsageClass::kRecycled ? Ancestry::Kind::kBin
                                                                    : Ancestry::Kind::kPlain;
  node.ancestry = std::make_shared<Ancestry>(node.id, std::move(above), kind);
  node.ancestry->sealed.store(found && node.record.has(kSealed), std::memory_order_relaxed);
  node.account = std::move(account);
  if (!found) {
    node.record.type = FileType::kDirectory;
    node.deleted = true;
    return Node::State::kEnded;
  }
  return Node::State::kReady;
}

Result<NodeRef> NodeCache::get(FileId id) {
  STOA_TRY(node, find(id, 0));
  if (node->state.load(std::memory_order_acquire) == Node::State::kEnded) return fail(Errc::kStale);
  return node;
}

Result<NodeRef> NodeCache::find(FileId id, unsigned nested) {
  Shard& shard = shard_of(id);
  for (;;) {
    NodeRef node;
    {
      const std::lock_guard lock(shard.mutex);
      const auto [it, added] = shard.nodes.try_emplace(static_cast<std::uint64_t>(id));
      if (added) {
        it->second = std::make_shared<Node>(id);
        node = it->second;  // before eviction, so that the new node counts as used
        shard.ring.push_back(static_cast<std::uint64_t>(id));
        evict_some(shard);
      } else {
        node = it->second;
      }
    }
    const Node::State state = node->state.load(std::memory_order_acquire);
    if (state == Node::State::kReady || state == Node::State::kEnded) {
      if (!node->referenced.load(std::memory_order_relaxed)) node->referenced.store(true, std::memory_order_relaxed);
      return node;
    }
    if (state == Node::State::kLoading) {
      // One loads, the others wait: two copies of one record must never exist. Not on the node's lock: a load goes on
      // to the directory above, against the order in which nodes are locked.
      const std::lock_guard lock(node->loading);
      if (node->state.load(std::memory_order_relaxed) == Node::State::kLoading) {
        const auto loaded = load(*node, nested);
        if (!loaded) {
          node->state.store(Node::State::kAbsent, std::memory_order_release);
          const std::lock_guard shard_lock(shard.mutex);
          const auto it = shard.nodes.find(static_cast<std::uint64_t>(id));
          if (it != shard.nodes.end() && it->second == node) shard.nodes.erase(it);
          return fail(loaded.error());
        }
        node->state.store(*loaded, std::memory_order_release);
      }
      if (node->state.load(std::memory_order_relaxed) != Node::State::kAbsent) return node;
    }
    // Another thread's load failed; the placeholder is out of the map, so the next round begins afresh.
  }
}

NodeRef NodeCache::peek(FileId id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto it = shard.nodes.find(static_cast<std::uint64_t>(id));
  if (it == shard.nodes.end() || it->second->state.load(std::memory_order_acquire) != Node::State::kReady)
    return nullptr;
  return it->second;
}

void NodeCache::insert(const NodeRef& node) {
  STOA_ASSERT(node->account != nullptr && node->ancestry != nullptr, "a new file counts in a directory");
  STOA_ASSERT(node->record.id == node->id, "a record is its file's");
  STOA_ASSERT(!node->deleted, "a new file is there");
  STOA_ASSERT(node->state.load(std::memory_order_relaxed) == Node::State::kLoading, "a new file was not found before");
  STOA_ASSERT(!node->dirty && is_zero(node->pending), "nothing of a new file waits for a flush");
  node->state.store(Node::State::kReady, std::memory_order_release);
  Shard& shard = shard_of(node->id);
  const std::lock_guard lock(shard.mutex);
  // A listing may have loaded the file since its commit; then that node stays the only one.
  if (!shard.nodes.try_emplace(static_cast<std::uint64_t>(node->id), node).second) return;
  shard.ring.push_back(static_cast<std::uint64_t>(node->id));
  evict_some(shard);
}

void NodeCache::erase(FileId id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  shard.nodes.erase(static_cast<std::uint64_t>(id));
}

void NodeCache::evict_some(Shard& shard) {
  // CLOCK: a used node gets a second chance. The bound on steps keeps one insertion cheap when all are in use.
  constexpr int kStepsMax = 32;
  const auto too_full = [&] {
    return shard.nodes.size() > shard_max_ || shard.ring.size() > 2 * shard_max_ || acl_bytes() > kAclBytesMax;
  };
  for (int step = 0; step < kStepsMax && too_full(); ++step) {
    if (shard.ring.empty()) return;
    if (shard.hand >= shard.ring.size()) shard.hand = 0;
    const auto it = shard.nodes.find(shard.ring[shard.hand]);
    bool drop = it == shard.nodes.end();
    const bool over = shard.nodes.size() > shard_max_, acls_over = acl_bytes() > kAclBytesMax;
    if (!drop && (over || acls_over)) {
      Node& node = *it->second;
      // use_count 1: only the map holds it, and no thread can get it from the map without this shard's mutex. Its lock
      // is free then, too; taking it orders this thread behind the last user of the record.
      const Node::State state = node.state.load(std::memory_order_acquire);
      const bool loaded = state == Node::State::kReady || state == Node::State::kEnded;
      if (it->second.use_count() == 1 && loaded && node.lock.try_lock()) {
        const bool of_use = over || node.record.acl != nullptr;
        const bool clean = !node.dirty && is_zero(node.pending);
        node.lock.unlock();
        drop = of_use && clean && !node.referenced.exchange(false, std::memory_order_relaxed);
        // An account in use must stay the only one of its directory, and so must its ancestry.
        if (drop && node.record.is_directory() && (node.account.use_count() > 1 || node.ancestry.use_count() > 1))
          drop = false;
        if (drop) {
          STOA_ASSERT(node.writing == nullptr || node.writing->under_way == 0, "no file that is written is forgotten");
          shard.nodes.erase(it);
        }
      }
    }
    if (drop) {
      shard.ring[shard.hand] = shard.ring.back();
      shard.ring.pop_back();
    } else {
      ++shard.hand;
    }
  }
}

std::size_t NodeCache::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.nodes.size();
  }
  return total;
}

}  // namespace stoa::core

// Every node in use, and recently used ones up to a bound. Guarantees that a file has one Node at a time.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "core/inode/node.h"
#include "core/kv/kv_store.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

class NodeCache {
 public:
  NodeCache(KvReader& kv, std::uint64_t nodes_max) : kv_(kv), shard_max_(nodes_max / kShards + 1) {}
  // Of the ACLs of all nodes together; beyond it, unused nodes with ACLs are evicted first.
  static constexpr std::size_t kAclBytesMax = 64u << 20;

  // The node of an existing file, loaded when needed (with the directories above it). kStale: no such file.
  Result<NodeRef> get(FileId id);
  // The account of a directory, also of one that is gone while files are charged to it. kStale: there is none.
  Result<AccountRef> account_of(FileId dir);
  // The node if it is in memory and loaded; null otherwise. Never reads the store.
  NodeRef peek(FileId id);
  // A directory goes to another parent, with all below it. Under the exclusive tree lock.
  void move(const AncestryRef& dir, const AncestryRef& to);
  // The number of directory moves: results found above a file are valid while it stays the same. Read it before
  // taking the tree lock.
  std::uint64_t moves() const { return moves_.load(std::memory_order_acquire); }
  // How many directories of the volume are sealed. While it is 0, nobody walks a chain to look for one. Changed under
  // the exclusive tree lock.
  std::atomic<std::uint64_t> seals{0};
  // Takes in the node of a file that was just created.
  void insert(const NodeRef& node);
  // Forgets the node of a file that is gone.
  void erase(FileId id);
  // A directory is gone, but its account is in use: get() answers kStale, files that are charged to it find the
  // account.
  void end(const NodeRef& node) { node->state.store(Node::State::kEnded, std::memory_order_release); }

  // An ACL for the record of a node: counted while referenced. Then trim(), with no lock of the cache held.
  AclRef counted(AclRef acl);
  void trim();

  std::size_t size() const;
  std::size_t acl_bytes() const { return acl_bytes_->load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 64;
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, NodeRef> nodes;
    std::vector<std::uint64_t> ring;  // CLOCK order; ids that are no longer in `nodes` are dropped when met
    std::size_t hand = 0;
  };
  Shard& shard_of(FileId id) { return shards_[(static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15ULL) >> 58]; }
  void evict_some(Shard& shard);
  // The stored state of a file or directory; kStale: none.
  struct Stored {
    std::optional<Inode> inode;  // absent: it is gone, and `usage` is still charged. Without its ACL
    UsageRecord usage;           // of a directory
    FileId counted_in() const;
    FileId parent() const;
  };
  Result<Stored> read(FileId id);
  // `nested`: the number of loads that wait for this one.
  Result<NodeRef> find(FileId id, unsigned nested);  // includes nodes whose file is gone
  Result<Chains> chains_of(FileId dir, unsigned nested);
  // The uncached ones, from `dir` upwards.
  Result<std::vector<FileId>> missing_above(FileId dir);
  Status load_owners(Account& account);
  Result<AclRef> load_acl(FileId id);
  Result<Node::State> load(Node& node, unsigned nested);  // its new state; kStale: no such file

  KvReader& kv_;
  const std::size_t shard_max_;
  std::atomic<std::uint64_t> moves_{0};  // looked at by every request where there are QoS classes
  // Shared with the ACLs themselves, which others may hold for longer than the cache lives.
  const std::shared_ptr<std::atomic<std::size_t>> acl_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::array<Shard, kShards> shards_;
};

// Reads one record from the store, without the ACL. kStale: no such file.
Result<Inode> load_inode(KvReader& kv, FileId id);

}  // namespace stoa::core

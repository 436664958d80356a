// The one in-memory object of a file in use: its current record, its lock, and for directories the account.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "base/rw_lock.h"
#include "core/api/ids.h"
#include "core/inode/ancestry.h"
#include "core/inode/inode.h"
#include "core/inode/qos_memo.h"
#include "core/inode/reach_memo.h"
#include "core/inode/writing.h"
#include "core/usage/ledger.h"

namespace stoa::core {

struct Node;
using NodeRef = std::shared_ptr<Node>;

// What files need of their directory: its account and its ancestry.
struct Chains {
  AccountRef account;
  AncestryRef ancestry;
};
// A new directory that counts in its parent.
inline Chains new_chains(FileId dir, const Chains& parent) {
  Chains chains{std::make_shared<Account>(), std::make_shared<Ancestry>(dir, parent.ancestry)};
  chains.account->dir = dir;
  chains.account->parent = parent.account;
  return chains;
}

struct Node {
  explicit Node(FileId file) : id(file) {}

  const FileId id;

  // Cache state (core/inode/node_cache.h). One thread loads, others wait on `loading`.
  enum class State : std::uint8_t {
    kLoading,
    kReady,
    kAbsent,  // the load failed; no longer in the cache
    kEnded,   // a directory that is gone while files are charged to its account: only that lives
  };
  std::atomic<State> state{State::kLoading};
  std::atomic<bool> referenced{true};

  // Both are cleared under the exclusive lock wherever `account` changes; set under the shared one at least, and the
  // shared tree lock. Placed in front, as is the state, beside the members that every request reads.
  QosMemo qos_classes;
  ReachMemo reach;

  // Guards everything down to the account pointer. Nodes are locked in ascending order of id.
  RwLock lock;
  bool deleted = false;  // the last link is gone; the id answers kStale
  Inode record;
  // Lazy attributes: `record` is newer than the store (size and times of writes that promised no durability), and
  // `pending` bytes are reserved in the ledger but not committed yet. Such a node stays in the cache.
  bool dirty = false;
  Usage pending;
  bool queued_for_flush = false;
  // In-place writes that are not wholly committed; null when there are none. Such a node is dirty.
  std::unique_ptr<Writing> writing;
  // Writes to blobs so far. Never restarts while the node is referenced: a flush that was overtaken must not mistake
  // later writes for those that it synced.
  std::uint64_t writes = 0;
  bool marked_dirty = false;  // the store knows that the file is being written (core/data/open_files.h)
  CommitTicket ticket{};      // of the last commit of this record; 0: unknown
  // One of its names, for the place of a change in the journal. `parent` kNoFile: unknown (core/txn/node_name.h).
  struct Name {
    FileId parent = kNoFile;
    std::string raw;
  };
  Name name;

  // The account of a directory; for other types that of the home directory (null without one: inode.h). Set while
  // loading; later under this node's lock and `loading`, so that either is enough to read it.
  AccountRef account;
  // Of the same directory, and changed with the account.
  AncestryRef ancestry;
  Chains chains() const { return {account, ancestry}; }
  // For callers that have not locked the node. A directory without anything below it may get a new account or ancestry
  // at any time.
  Chains chains_now() {
    const std::lock_guard lock(loading);
    return {account, ancestry};
  }
  // The charge target of this file's content, including its uncommitted reservations.
  ChargeTarget charge_target() const {
    const bool orphan = record.links == 0;  // core/links/orphan.h
    return {account, {record.uid, record.gid}, id, orphan ? UsageClass::kOrphans : UsageClass::kLive};
  }
  // The charge target of the directory itself. Needs the tree lock and the node's.
  ChargeTarget charge_target_of_directory() const {
    return {account->parent, {record.uid, record.gid}, id, account->child_class};
  }

  // In-place I/O holds it shared; truncate, punch and replacing the content hold it exclusively. Taken before any other
  // lock of the core.
  RwLock data_gate;

  // Ordered after every other lock; those of directories after those of the files in them.
  std::mutex loading;

  // Prefetches the members that most requests read into the processor's cache, for callers with other work to do
  // meanwhile.
  void prefetch() const {
    const auto* const end = reinterpret_cast<const std::byte*>(&record.attribute_bytes);
    for (const auto* line = reinterpret_cast<const std::byte*>(this); line < end; line += 64) __builtin_prefetch(line);
  }
};

// Bytes reserved for a file beyond its size. They move with the file's charge (MetaTxn::move_charge).
inline Usage promised(const Node& node) {
  const Writing* const writing = node.writing.get();
  if (writing == nullptr || writing->promised_end <= node.record.size) return {};
  return {.bytes = static_cast<std::int64_t>(writing->promised_end - node.record.size)};
}

}  // namespace stoa::core

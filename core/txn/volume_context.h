// The parts that every operation works on, and the few steps that all of them share.
//
// Lock order: data gate of a file -> tree lock -> nodes in ascending order of id -> table of opens and leases ->
// committer.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "base/metrics.h"
#include "base/rw_lock.h"
#include "core/api/context.h"
#include "core/api/event_log.h"
#include "core/blob/blob_store.h"
#include "core/commit/committer.h"
#include "core/commit/read_your_writes_store.h"
#include "core/inode/node_cache.h"
#include "core/inode/posix_name.h"
#include "core/journal/finished_requests.h"
#include "core/state/state_table.h"
#include "core/txn/blobs_in_flight.h"
#include "core/txn/entry_cache.h"
#include "core/txn/metadata_room.h"
#include "core/txn/recycle_state.h"
#include "core/txn/volume_options.h"
#include "core/txn/volume_view.h"
#include "core/usage/ledger.h"
#include "core/usage/owner_walk.h"

namespace stoa::core {

struct VolumeContext {
  // All must outlive it. `event_log` is the process's; `data_state` and `file_watch` belong to the floors above.
  VolumeContext(KvStore& kv_store, BlobStore& blob_store, MetricRegistry& registry, const VolumeOptions& volume_options,
                std::uint64_t next_journal, FileId next_id, EventLog& event_log, DataState& data_state,
                FileWatch& file_watch);

  BlobStore& blobs;
  MetricRegistry& metrics;
  const VolumeOptions options;
  const TimeSource& time{*options.time};
  const ShardId shard{};               // the part of the volume
  const std::uint64_t write_verifier;  // another one with each start
  EventLog& events;
  Ledger ledger;
  Committer committer;
  ReadYourWritesStore kv;  // for reading; written by the committer alone
  MetadataRoom room{kv};
  NodeCache nodes;
  EntryCache entries;
  RwLock tree_lock;  // shared: every change of names and usage; exclusive: a directory moves to another parent
  BlobsInFlight in_flight;
  DataState* const data;
  FileWatch* const watch;
  VolumeState state;
  RecycleState recycle;
  OwnerCount owner_count;
  FinishedRequests finished;               // before the start; set before the first operation
  std::atomic<bool> orphans_swept{false};  // those of before the start (core/links/orphan.h)

  // For operations that only read.
  const VolumeView view{options, blobs, kv, nodes, entries, tree_lock, ledger, state, recycle, data};
  operator const VolumeView&() const { return view; }  // NOLINT(google-explicit-constructor)

  // A FileId never used before. kIo: the store failed.
  Result<FileId> next_id();

 private:
  std::mutex id_mutex_;  // guards both; ids are reserved in the store by the thousand
  std::uint64_t next_id_;
  std::uint64_t id_limit_;
};

// Exclusive locks on a few nodes, taken in ascending order of id, released together. Null references are skipped.
class NodeLocks {
 public:
  // kTimeout: the operation's deadline passed.
  static Result<NodeLocks> take(const OpContext& ctx, std::initializer_list<NodeRef> nodes);
  ~NodeLocks() { release(); }
  NodeLocks(NodeLocks&& other) noexcept : nodes_(std::move(other.nodes_)), count_(std::exchange(other.count_, 0)) {}
  NodeLocks& operator=(NodeLocks&&) = delete;
  void release();

 private:
  NodeLocks() = default;
  static constexpr std::size_t kMax = 6;
  std::array<NodeRef, kMax> nodes_;
  std::size_t count_ = 0;
};

// An entry found: the stored component, its form, and the record.
struct FoundEntry {
  std::string raw;
  EntryRecord record;  // record.exists() tells whether there is one
  bool directory() const { return record.type == FileType::kDirectory; }
};

// All of these want the directory's lock held, shared or exclusive.
// The entry of one exact form: `raw` as a file, or as a directory.
Result<EntryRecord> find_form(const VolumeView& volume, const Node& dir, std::string_view raw, bool directory);
// The entry that `name` means to a POSIX protocol. Not found: `raw` is the stored form of a new entry of that name.
Result<FoundEntry> find_posix(const VolumeView& volume, const Node& dir, std::string_view name);
// The same, and where there is none, the first that differs in case only (core/inode/name_fold.h).
Result<FoundEntry> find_ignoring_case(const VolumeView& volume, const Node& dir, std::string_view name);

// The file of an entry that was found in `dir`, whose lock is not held any more. kStale: the entry went meanwhile, so
// look again. kCorrupt: it is there, and its file is missing.
Result<NodeRef> node_of(const VolumeView& volume, const OpContext& ctx, const NodeRef& dir, std::string_view raw,
                        const EntryRecord& record);

// kStale when the file is gone, kNotDirectory when it is no directory. The node is locked by the caller.
Status require_live(const Node& node);
Status require_directory(const Node& node);

// The promise of ctx.durability for a change that was committed as `ticket`: waits, or stores the ticket for the
// front end.
Status sync_or_defer(VolumeContext& volume, const OpContext& ctx, CommitTicket ticket);

// One mutation: `body(CommitTicket&) -> Result<Reply>` under the tree lock, shared or (a directory changes parents)
// alone. Leases are broken by its MetaTxn (core/state/lease_gate.h). The caller syncs what it committed, if anything,
// with no lock held.
template <class Body>
auto apply_mutation(VolumeContext& volume, const OpContext& ctx, CommitTicket& ticket, Body body, bool alone = false)
    -> decltype(body(ticket)) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  if (ctx.expired()) return fail(Errc::kTimeout);
  std::shared_lock<RwLock> shared;
  std::unique_lock<RwLock> exclusive;
  if (alone) {
    STOA_TRY(lock, lock_by(volume.tree_lock, ctx.deadline));
    exclusive = std::move(lock);
  } else {
    STOA_TRY(lock, share_by(volume.tree_lock, ctx.deadline));
    shared = std::move(lock);
  }
  return body(ticket);
}

// The same, and syncs when every lock is gone again.
template <class Body>
auto run_mutation(VolumeContext& volume, const OpContext& ctx, Body body, bool alone = false)
    -> decltype(body(std::declval<CommitTicket&>())) {
  CommitTicket ticket{};
  auto reply = apply_mutation(volume, ctx, ticket, std::move(body), alone);
  if (reply && static_cast<std::uint64_t>(ticket) != 0) STOA_CHECK_OK(sync_or_defer(volume, ctx, ticket));
  return reply;
}

}  // namespace stoa::core

// Group commit. An operation hands its changes in while it still holds its locks and goes on at once; the queue so
// keeps the order of the locks. The first waiter (for durability, or to read the store itself) becomes the leader and
// writes the whole queue as one batch. It has the merged batches, their charges to directories
// (core/usage/usage_log.h), and their journal records. One sync serves all waiters, and the next group gathers
// meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/deadline.h"
#include "base/metrics.h"
#include "core/api/ids.h"
#include "core/blob/blob_store.h"
#include "core/commit/journal_tail.h"
#include "core/commit/queued_changes.h"
#include "core/kv/kv_store.h"
#include "core/usage/committed_usage.h"

namespace stoa::core {

// A file begins (+1) or ends (-1) to use a blob. The committer adds to the count in family blob, without reading it. A
// blob that a file stops using enters the gc queue in the same batch; that queue also holds some blobs still in use.
struct BlobReference {
  BlobId blob = kNoBlob;
  std::int32_t delta = 0;
};

struct CommitUnit {
  WriteBatch batch{};
  std::vector<Charge> charges{};
  std::vector<AccountChange> account_changes{};
  std::vector<BlobReference> references{};
  std::unique_ptr<CountStep> counted{};  // taken after all else of this unit
  std::vector<std::string> journal{};    // encoded records; the committer numbers them
  bool checkpoints = false;              // its group settles usage: directories have other ones above them from here on
};

class Committer {
 public:
  // Size of the queue from which commit() writes it out itself.
  static constexpr std::size_t kQueuedBytesMax = 4u << 20;

  // `next_journal`: the first sequence number not yet used in the store.
  Committer(KvStore& kv, MetricRegistry& metrics, std::uint64_t next_journal, const TimeSource& time = kSystemTime);

  // Takes the unit in. From now on all readers through ReadYourWritesStore see it. Blocks only when the queue is full,
  // for one write without a sync. kIo: the store failed before; nothing more can be committed until restart. A store
  // that fails later fails every wait_durable() from then on, so nothing that it lost is ever acknowledged as durable.
  //
  // On *no space* nothing is lost: the failed group waits as it was made, and the rest of the queue behind it. Each
  // wait_*() tries again, and answers kNoSpace as long as it does not succeed; so does commit() when the queue is full.
  // Committed changes stay visible meanwhile, and are durable once a wait_durable() succeeds.
  //
  // Waits for other threads end by the deadline with kTimeout. For commit(), nothing was queued then; for the others,
  // the awaited state comes about without them. The leader of a write or a sync is as slow as the store.
  Result<CommitTicket> commit(CommitUnit unit, const Deadline& deadline = {});
  // Blocks until everything up to `ticket` is durable, sharing one sync with all waiters.
  Status wait_durable(CommitTicket ticket, const Deadline& deadline = {});
  // Blocks until everything that was committed before the call is in the store (not: durable).
  Status wait_applied(const Deadline& deadline = {});
  // Blocks until everything up to `ticket` outlives a kill of this process (not: of the machine).
  Status wait_written_out(CommitTicket ticket, const Deadline& deadline = {});
  // The ticket of the newest change.
  CommitTicket applied() const { return CommitTicket{submitted_.load(std::memory_order_acquire)}; }
  // The newest that is durable.
  CommitTicket durable() const { return CommitTicket{durable_.load(std::memory_order_acquire)}; }
  // Writes the usage of every directory, in place of the usage log. Blocks until it is in the store (not: durable).
  // `found`: the usage that a start replayed from the log, before anything else is committed.
  Status checkpoint_usage(LaggingUsage found = {});
  // The store as a place for changes that are no operation of the namespace (registry): durable on return. kTimeout:
  // the queue had no room until the deadline; what was taken in is waited for without an end.
  Status write_durably(const WriteBatch& batch, const Deadline& deadline = {});

  // The end of the journal.
  JournalTail& journal_tail() { return tail_; }

  // Changes queued and not in the store, without the records that the committer itself adds.
  const QueuedChanges& queued() const { return changes_; }
  // The newest unit that the store may have: a write of it has begun.
  std::uint64_t newest_begun() const { return begun_.load(std::memory_order_acquire); }
  // The newest queued value of a key in a family whose records the committer makes, while the store refuses writes (it
  // has no room, or failed). Absent inside: removed. kNoSpace, kIo: unknown before the queue is written.
  Result<std::optional<std::optional<std::string>>> find_made(Family family, std::string_view key);
  // The same of all keys from `lower` up to `upper` (empty: to the end).
  std::vector<QueuedChanges::KeyChange> made_between(Family family, std::string_view lower, std::string_view upper);
  struct Health {
    bool failed = false;   // nothing is accepted until restart
    bool stalled = false;  // a group waits for room
    std::string error{};
  };
  Health health();
  bool anything_queued() const {
    return applied_.load(std::memory_order_acquire) != submitted_.load(std::memory_order_acquire);
  }

 private:
  struct Queued {
    CommitUnit unit;
    QueuedChanges::Part part;
  };
  // Also a group that waits for room.
  Status write_queued(std::unique_lock<std::mutex>& lock);
  Status sync_all(std::unique_lock<std::mutex>& lock, const Deadline& deadline);
  // Until everything up to `wanted` is in the store.
  Status write_up_to(std::unique_lock<std::mutex>& lock, std::uint64_t wanted, const Deadline& deadline);
  // In the order in which they were made.
  template <class Visit>
  void for_each_queued(std::unique_lock<std::mutex>& lock, Visit visit);
  void poison(std::unique_lock<std::mutex>& lock, const Error& error);
  Status write_group();
  void drop_superseded();
  void count_references();

  KvStore& kv_;
  Counter& groups_;
  Counter& units_;
  Counter& syncs_;
  Histogram& sync_seconds_;

  // Added to before the locks of the operation are released; removed from when the store has them.
  QueuedChanges changes_;

  // Numbers of units: handed in, being written, in the store, with the kernel, durable. Written under mutex_.
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> applied_{0};
  std::atomic<std::uint64_t> written_out_{0};
  std::atomic<std::uint64_t> durable_{0};

  std::mutex mutex_;  // guards the members below
  std::vector<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  bool failed_ = false;
  bool stalled_ = false;           // group_ waits for room
  std::string error_;              // of either
  std::uint64_t written_journal_;  // the newest record in the store
  bool writing_ = false;
  std::condition_variable written_;  // writing_ turned false
  bool syncing_ = false;
  std::uint64_t sync_target_ = 0;  // ticket that the running sync will make durable
  // Threads served by the running sync wait at synced_[turn_], the others at the other one. The latter sleep until
  // their turn; then one of them leads.
  std::array<std::condition_variable, 2> synced_;
  unsigned turn_ = 0;

  // Owned by the thread that set writing_. While stalled_ or failed_, the group and its batch do not change.
  std::vector<Queued> group_;
  std::uint64_t group_newest_ = 0;
  std::vector<const WriteBatch*> batches_;
  WriteBatch extra_;
  CommittedUsage usage_;
  struct References {
    std::int64_t change = 0;
    bool ended = false;  // one of them, whatever other writes began beside it
  };
  std::unordered_map<BlobId, References> references_;  // of the group
  std::uint64_t next_journal_;

  JournalTail tail_;
};

}  // namespace stoa::core

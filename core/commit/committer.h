// Group commit. An operation hands its changes in while it still holds its locks and goes on at once; the queue so
// keeps the order of the locks. Whoever first needs the changes written (for durability, or to read the store itself)
// writes all that is queued as one change of the store: the merged batches, what they charged to directories
// (core/usage/usage_log.h), their journal records. One sync serves all who wait, and the next group gathers meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "core/api/ids.h"
#include "core/blob/blob_store.h"
#include "core/commit/journal_tail.h"
#include "core/kv/kv_store.h"
#include "core/usage/committed_usage.h"

namespace stoa::core {

// A file begins (+1) or ends (-1) to use a blob. The committer keeps the count in family blob, in commit order, and
// moves a blob that nobody uses any more to the gc queue in the same batch.
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
  bool settles = false;                  // its group settles usage: directories have other ones above them from here on
};

class Committer {
 public:
  // What may be queued before commit() writes it out itself.
  static constexpr std::size_t kQueuedBytesMax = 4u << 20;

  // `next_journal`: the first sequence number not yet used in the store.
  Committer(KvStore& kv, MetricRegistry& metrics, std::uint64_t next_journal);

  // Takes the unit in. From now on everybody who reads by SettledStore sees it. Blocks only when the queue is full, for
  // one write without a sync. kIo: the store failed before; nothing more can be committed until restart. A store that
  // fails later fails every wait_durable() from then on, so nothing that it lost is ever acknowledged as durable.
  //
  // For want of room nothing is lost: the group that could not be written waits as it was made, and everything behind
  // it in the queue. Each wait_*() tries again, and answers kNoSpace as long as it does not succeed; so does commit()
  // when the queue is full. What was committed stays visible meanwhile, and is durable when somebody's wait_durable()
  // says so.
  Result<CommitTicket> commit(CommitUnit unit);
  // Blocks until everything up to `ticket` is durable, sharing one sync with all who wait.
  Status wait_durable(CommitTicket ticket);
  // Blocks until everything that was committed before the call is in the store (not: durable).
  Status wait_applied();
  // The ticket of the newest change.
  CommitTicket applied() const { return CommitTicket{submitted_.load(std::memory_order_acquire)}; }
  // The newest that is durable.
  CommitTicket durable() const { return CommitTicket{durable_.load(std::memory_order_acquire)}; }
  // Writes what every directory counts, in place of the usage log. Blocks until it is in the store (not: durable).
  // `found`: what a start has taken from the log that it found, before anything else is committed.
  Status settle_usage(LaggingUsage found = {});
  // The store as a place for changes that are no operation of the namespace (registry): durable on return.
  Status write_durably(const WriteBatch& batch);

  // How far the journal is.
  JournalTail& journal_tail() { return tail_; }

  // False: the store has the newest value of this key. (True may be a false alarm.)
  bool is_queued(Family family, std::string_view key) const {
    return queued_keys_[slot_of(family, key)].load(std::memory_order_acquire) != 0;
  }
  // The same of all keys from `lower` up to `upper`. Exact knowledge is there only of what is kept for one file or
  // directory, under its id, in the families that are walked so; for anything else, true when anything is queued.
  bool is_range_queued(Family family, std::string_view lower, std::string_view upper) const;
  // The newest queued value of a key, while the store does not take it (it has no room, or failed); absent inside:
  // removed. kNoSpace, kIo: not known before the queue is written.
  Result<std::optional<std::optional<std::string>>> find_queued(Family family, std::string_view key);
  // The same of all keys from `lower` up to `upper` (empty: to the end).
  std::map<std::string, std::optional<std::string>> queued_between(Family family, std::string_view lower,
                                                                   std::string_view upper);
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
  static constexpr std::size_t kKeySlots = 1u << 16;
  // Families whose keys begin with an id, and of which all keys of one id share a slot: they are walked more often than
  // asked for a key.
  static bool kept_by_id(Family family) {
    return family == Family::kXattr || family == Family::kLink || family == Family::kCookie;
  }
  static std::size_t slot_of(Family family, std::string_view key) {
    if (kept_by_id(family)) key = key.substr(0, sizeof(FileId));
    return (std::hash<std::string_view>{}(key) + static_cast<std::size_t>(family) * 0x9E3779B97F4A7C15ULL) % kKeySlots;
  }
  void count_keys(const WriteBatch& batch, int delta);
  // Also what waits for room.
  Status write_queued(std::unique_lock<std::mutex>& lock);
  Status sync_all(std::unique_lock<std::mutex>& lock);
  // In the order in which they were made.
  template <class Visit>
  void for_each_queued(std::unique_lock<std::mutex>& lock, Visit visit);
  void poison(std::unique_lock<std::mutex>& lock, const Error& error);
  Status write_group();
  void drop_superseded();
  Status count_references();

  KvStore& kv_;
  Counter& groups_;
  Counter& units_;
  Counter& syncs_;
  Histogram& sync_seconds_;

  // How many queued changes have a key of this hash (kept_by_id(): of this hash of its id). Raised before the locks of
  // the operation are released, lowered when the store has them.
  std::unique_ptr<std::array<std::atomic<std::uint32_t>, kKeySlots>> key_slots_;
  std::array<std::atomic<std::uint32_t>, kKeySlots>& queued_keys_;

  // Numbers of units: handed in, in the store, durable. Written under mutex_.
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> applied_{0};
  std::atomic<std::uint64_t> durable_{0};

  std::mutex mutex_;  // guards what follows
  std::vector<CommitUnit> queue_;
  std::size_t queued_bytes_ = 0;
  bool failed_ = false;
  bool stalled_ = false;           // group_ waits for room
  std::string error_;              // of either
  std::uint64_t written_journal_;  // the newest record in the store
  bool writing_ = false;
  std::condition_variable written_;  // writing_ turned false
  bool syncing_ = false;
  std::uint64_t sync_target_ = 0;  // what the sync that runs will have made durable
  // Those whom the running sync serves wait at synced_[turn_], the others at the other one: they are let alone until it
  // is their turn, and then one of them leads.
  std::array<std::condition_variable, 2> synced_;
  unsigned turn_ = 0;

  // Of the thread that set writing_; while stalled_ or failed_, nobody changes the group and what was made for it.
  std::vector<CommitUnit> group_;
  std::uint64_t group_newest_ = 0;
  std::vector<const WriteBatch*> batches_;
  WriteBatch extra_;
  CommittedUsage usage_;
  std::unordered_map<BlobId, std::int64_t> references_;
  std::uint64_t next_journal_;

  JournalTail tail_;
};

}  // namespace stoa::core

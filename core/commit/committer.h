// Group commit. Concurrent operations hand in their batches; one of them, the leader, merges all that wait, adds the new
// absolute usage of every directory that they touch and their journal records, and writes the whole with one WAL write.
// Syncing is separate: whoever needs durability first syncs for everybody applied by then.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "core/api/ids.h"
#include "core/data/blob_store.h"
#include "core/kv/kv_store.h"
#include "core/usage/ledger.h"

namespace stoa::core {

// A file begins (+1) or ends (-1) to use a blob. The committer keeps the count in family blob, in commit order, and moves
// a blob that nobody uses any more to the gc queue in the same batch.
struct BlobReference {
  BlobId blob = kNoBlob;
  std::int32_t delta = 0;
};

struct CommitUnit {
  const WriteBatch* batch = nullptr;
  std::span<const Charge> charges{};
  std::span<const BlobReference> references{};
  std::span<const std::string> journal{};  // encoded records; the committer numbers them
};

class Committer {
 public:
  // `next_journal`: the first sequence number not yet used in the store.
  Committer(KvStore& kv, Ledger& ledger, MetricRegistry& metrics, std::uint64_t next_journal);

  // Applies the unit, visible on return. Blocks while a group ahead of it is written (memory speed, no sync). kIo: the
  // store failed, now or before: nothing more can be committed until restart.
  Result<CommitTicket> commit(const CommitUnit& unit);
  // Blocks until everything up to `ticket` is durable, sharing one sync with all who wait.
  Status wait_durable(CommitTicket ticket);
  // The ticket of the newest applied change.
  CommitTicket applied() const { return CommitTicket{applied_.load(std::memory_order_acquire)}; }
  // The store as a place for changes that are no operation of the namespace (registry): applied and durable on return.
  Status write_durably(const WriteBatch& batch);

 private:
  enum Turn : int { kWaiting, kLead, kDone };
  struct Waiter {
    const CommitUnit* unit;
    std::atomic<int> turn{kWaiting};
    Result<CommitTicket> result{CommitTicket{}};
  };
  void lead(Waiter& self);
  Status write_group(std::span<Waiter* const> group);
  Status count_references(std::span<Waiter* const> group);

  KvStore& kv_;
  Ledger& ledger_;
  Counter& groups_;
  Counter& units_;
  Counter& syncs_;

  std::mutex queue_mutex_;           // guards queue_ and leading_
  std::vector<Waiter*> queue_;
  bool leading_ = false;

  // The leader's alone.
  std::vector<Waiter*> group_;
  std::vector<const WriteBatch*> batches_;
  WriteBatch extra_;
  std::vector<Account*> touched_;
  std::unordered_map<BlobId, std::int64_t> references_;
  std::uint64_t group_number_ = 0;
  std::uint64_t next_journal_;

  std::atomic<std::uint64_t> applied_{0};
  std::atomic<bool> failed_{false};

  std::mutex sync_mutex_;            // guards what follows
  std::condition_variable synced_;
  bool syncing_ = false;
  std::atomic<std::uint64_t> durable_{0};
};

}  // namespace stoa::core

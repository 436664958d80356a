#include "core/commit/committer.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/assert.h"
#include "base/log.h"
#include "base/reason.h"
#include "base/time_source.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {}  // namespace

Committer::Committer(KvStore& kv, MetricRegistry& metrics, std::uint64_t next_journal, const TimeSource& time)
    : kv_(kv),
      groups_(metrics.counter("stoa_commit_groups_total", "WAL writes of the committer")),
      units_(metrics.counter("stoa_commit_transactions_total", "Transactions that the committer wrote")),
      syncs_(metrics.counter("stoa_commit_syncs_total", "WAL syncs")),
      sync_seconds_(
          metrics.histogram("stoa_commit_sync_seconds", "Time of a WAL sync, which durable changes wait for")),
      written_journal_(next_journal - 1),
      usage_(&time),
      next_journal_(next_journal),
      tail_(next_journal - 1) {}

Result<CommitTicket> Committer::commit(CommitUnit unit, const Deadline& deadline) {
  QueuedChanges::Part part(unit.batch);
  const std::size_t bytes = unit.batch.bytes() + part.bytes() + sizeof(Queued);
  std::unique_lock lock(mutex_);
  while (queued_bytes_ > kQueuedBytesMax && !failed_) {
    if (writing_) {
      if (!deadline.wait(written_, lock)) return fail(Cause::kMetadataLate);
    } else if (const Status written = write_queued(lock); !written && !failed_) {
      return written.error().code == Errc::kNoSpace ? fail(Cause::kMetadataFull) : fail(written.error());
    }
  }
  if (failed_) return fail(Cause::kMetadataFailed);
  const std::uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
  queue_.push_back({std::move(unit), std::move(part)});
  STOA_ASSERT(number - begun_.load(std::memory_order_relaxed) == queue_.size(), "units are numbered without a gap");
  changes_.add(queue_.back().part, number);
  queued_bytes_ += bytes;
  submitted_.store(number, std::memory_order_release);
  return CommitTicket{number};
}

Status Committer::write_queued(std::unique_lock<std::mutex>& lock) {
  STOA_ASSERT(!writing_, "one thread writes at a time");
  STOA_ASSERT(!failed_, "a store that failed is written no more");
  STOA_ASSERT(stalled_ != group_.empty(), "a group stays only while it waits for room");
  writing_ = true;
  const bool again = stalled_;
  if (!again) {
    group_.swap(queue_);
    STOA_ASSERT(begun_.load(std::memory_order_relaxed) == applied_.load(std::memory_order_relaxed),
                "groups are written in order");
    queued_bytes_ = 0;
    group_newest_ = submitted_.load(std::memory_order_relaxed);
    begun_.store(group_newest_, std::memory_order_release);
  }
  lock.unlock();
  const Status written = again ? kv_.apply(batches_) : write_group();
  if (written) {
    for (Queued& queued : group_) changes_.remove(queued.part);
  }
  lock.lock();
  if (written) {
    group_.clear();
    if (stalled_) log_info("commit", "what had waited for room is written");
    stalled_ = false;
    STOA_ASSERT(applied_.load(std::memory_order_relaxed) <= group_newest_, "groups are written in order");
    STOA_ASSERT(group_newest_ <= submitted_.load(std::memory_order_relaxed), "what is written was handed in");
    applied_.store(group_newest_, std::memory_order_release);
    written_journal_ = next_journal_ - 1;
    tail_.set_written(written_journal_);
  } else if (written.error().code == Errc::kNoSpace && !batches_.empty()) {
    if (!stalled_)
      log_warning("commit", "changes wait for room in the metadata store", {{"error", describe(written.error())}});
    stalled_ = true;
    error_ = reason(written.error());
  } else {
    // The group's changes are lost, so nothing that came after may be acknowledged.
    poison(lock, written.error());
  }
  writing_ = false;
  written_.notify_all();
  return written;
}

void Committer::poison(std::unique_lock<std::mutex>&, const Error& error) {
  if (failed_) return;
  failed_ = true;
  error_ = reason(error);
  log_error("commit", "the metadata store failed; no change is accepted until restart", {{"error", describe(error)}});
}

Committer::Health Committer::health() {
  const std::lock_guard lock(mutex_);
  return {.failed = failed_, .stalled = stalled_, .error = failed_ || stalled_ ? error_ : std::string()};
}

template <class Visit>
void Committer::for_each_queued(std::unique_lock<std::mutex>& lock, Visit visit) {
  // The thread that makes a group changes it.
  written_.wait(lock, [this] { return !writing_ || stalled_; });
  if (!group_.empty()) visit(extra_);
  for (const Queued& queued : group_) visit(queued.unit.batch);
  for (const Queued& queued : queue_) visit(queued.unit.batch);
}

Result<std::optional<std::optional<std::string>>> Committer::find_made(Family family, std::string_view key) {
  std::unique_lock lock(mutex_);
  std::optional<std::optional<std::string>> found;
  bool added = false;
  for_each_queued(lock, [&](const WriteBatch& batch) {
    for (const WriteBatch::Op& op : batch.ops()) {
      if (op.family != family || batch.key(op) != key) continue;
      added = op.kind == WriteBatch::Kind::kAdd;
      found = op.kind == WriteBatch::Kind::kRemove ? std::nullopt : std::optional<std::string>(batch.value(op));
    }
  });
  // Added to the future value in the store, unknown before the queue is written.
  if (added) return fail(Cause::kMetadataFull);
  if (failed_) return found;
  if (family == Family::kBlob || family == Family::kGc) {
    const BlobId blob{keys::read_be64(key)};
    for (const Queued& queued : queue_) {
      if (std::ranges::find(queued.unit.references, blob, &BlobReference::blob) != queued.unit.references.end())
        return fail(Cause::kMetadataFull);
    }
  }
  if (family != Family::kUsage) return found;
  // An account that is charged in the queue has a usage that is not made yet.
  const FileId dir = keys::id_of(key);
  for (const Queued& queued : queue_) {
    for (const Charge& charge : queued.unit.charges) {
      for (const Account* account = charge.target.account.get(); account != nullptr; account = account->parent.get()) {
        if (account->dir == dir) return fail(Cause::kMetadataFull);
      }
    }
  }
  return found;
}

std::vector<QueuedChanges::KeyChange> Committer::made_between(Family family, std::string_view lower,
                                                              std::string_view upper) {
  std::map<std::string, std::optional<std::string>> found;
  std::unique_lock lock(mutex_);
  for_each_queued(lock, [&](const WriteBatch& batch) {
    for (const WriteBatch::Op& op : batch.ops()) {
      const std::string_view key = batch.key(op);
      if (op.family != family || key < lower || (!upper.empty() && key >= upper)) continue;
      if (op.kind == WriteBatch::Kind::kAdd) continue;  // a walk shows the count that is stored
      found[std::string(key)] =
          op.kind == WriteBatch::Kind::kRemove ? std::nullopt : std::optional<std::string>(batch.value(op));
    }
  });
  std::vector<QueuedChanges::KeyChange> changes;
  for (auto& [key, value] : found) changes.push_back({key, std::move(value)});
  return changes;
}

Status Committer::write_group() {
  STOA_ASSERT(next_journal_ > written_journal_, "numbers of the journal rise");
  batches_.clear();
  extra_.clear();
  usage_.begin_group();
  for (const Queued& queued : group_) {
    const CommitUnit& unit = queued.unit;
    usage_.apply(unit.charges, unit.account_changes);
    if (unit.counted != nullptr) usage_.apply(*unit.counted);
    if (unit.checkpoints) usage_.checkpoint();
    for (const std::string& record : unit.journal) extra_.put(Family::kJournal, keys::be64(next_journal_++), record);
  }
  usage_.put_group(extra_);
  count_references();
  if (group_.size() > 1) drop_superseded();
  if (!extra_.empty()) batches_.push_back(&extra_);
  for (const Queued& queued : group_) {
    if (!queued.unit.batch.empty()) batches_.push_back(&queued.unit.batch);
  }
  groups_.add();
  units_.add(group_.size());
  if (batches_.empty()) return {};
  return kv_.apply(batches_);
}

// Many creates in one directory each bring its whole new record: only the last of a group is worth writing.
void Committer::drop_superseded() {
  for (auto& [unit, part] : group_) {
    for (std::size_t i = part.size(); i-- > 0;) {
      if (part.is_superseded(i, group_newest_)) unit.batch.erase(i);
    }
  }
}

void Committer::count_references() {
  references_.clear();
  for (const Queued& queued : group_) {
    for (const BlobReference& reference : queued.unit.references) {
      STOA_ASSERT(reference.blob != kNoBlob, "a blob that is used has a number");
      STOA_ASSERT(reference.delta == 1 || reference.delta == -1, "a file begins or ends one use");
      References& of_blob = references_[reference.blob];
      of_blob.change += reference.delta;
      of_blob.ended = of_blob.ended || reference.delta < 0;
    }
  }
  for (const auto& [blob, of_blob] : references_) {
    const std::string key = keys::be64(static_cast<std::uint64_t>(blob));
    if (of_blob.change != 0) extra_.add(Family::kBlob, key, of_blob.change);
    // Whether it was the last use, garbage collection finds out.
    if (of_blob.ended) extra_.put(Family::kGc, key, {});
  }
}

Status Committer::wait_applied(const Deadline& deadline) {
  const std::uint64_t wanted = submitted_.load(std::memory_order_acquire);
  if (applied_.load(std::memory_order_acquire) >= wanted) return {};
  std::unique_lock lock(mutex_);
  return write_up_to(lock, wanted, deadline);
}

Status Committer::write_up_to(std::unique_lock<std::mutex>& lock, std::uint64_t wanted, const Deadline& deadline) {
  while (applied_.load(std::memory_order_relaxed) < wanted) {
    if (failed_) return fail(Cause::kMetadataFailed);
    if (writing_) {
      if (!deadline.wait(written_, lock)) return fail(Cause::kMetadataLate);
    } else if (const Status written = write_queued(lock); !written && !failed_) {
      return written;
    }
  }
  return {};
}

Status Committer::wait_written_out(CommitTicket ticket, const Deadline& deadline) {
  const auto wanted = static_cast<std::uint64_t>(ticket);
  const auto is_out = [&] { return std::max(written_out_.load(), durable_.load()) >= wanted; };
  if (is_out()) return {};
  std::unique_lock lock(mutex_);
  STOA_ASSERT(wanted <= submitted_.load(std::memory_order_relaxed), "a ticket that is waited for was given");
  STOA_CHECK_OK(write_up_to(lock, wanted, deadline));
  if (is_out()) return {};
  const std::uint64_t newest = applied_.load(std::memory_order_relaxed);
  lock.unlock();
  STOA_CHECK_OK(kv_.write_out());
  lock.lock();
  if (newest > written_out_.load(std::memory_order_relaxed)) written_out_.store(newest);
  return {};
}

Status Committer::wait_durable(CommitTicket ticket, const Deadline& deadline) {
  const auto wanted = static_cast<std::uint64_t>(ticket);
  if (durable_.load(std::memory_order_acquire) >= wanted) return {};
  std::unique_lock lock(mutex_);
  STOA_ASSERT(wanted <= submitted_.load(std::memory_order_relaxed), "a ticket that is waited for was given");
  Status done;
  while (done && durable_.load(std::memory_order_relaxed) < wanted) {
    if (failed_) return fail(Cause::kMetadataFailed);
    if (syncing_ && applied_.load(std::memory_order_relaxed) < wanted && !writing_) {
      // Time that would be spent waiting: the next sync finds its group written.
      done = write_queued(lock);
    } else if (syncing_) {
      if (deadline.wait(synced_[wanted <= sync_target_ ? turn_ : turn_ ^ 1], lock)) continue;
      if (durable_.load(std::memory_order_relaxed) < wanted) done = fail(Cause::kMetadataLate);
    } else {
      done = sync_all(lock, deadline);
    }
    if (!done && failed_) return fail(Cause::kMetadataFailed);
  }
  // A sync may serve more than it was begun for, and so this thread, which was woken to lead the next one: another has
  // to.
  if (!syncing_) synced_[turn_].notify_one();
  return done;
}

Status Committer::sync_all(std::unique_lock<std::mutex>& lock, const Deadline& deadline) {
  STOA_ASSERT(!syncing_, "one thread syncs at a time");
  syncing_ = true;
  sync_target_ = submitted_.load(std::memory_order_relaxed);
  STOA_ASSERT(durable_.load(std::memory_order_relaxed) <= sync_target_, "what is durable was handed in");
  Status done;
  while (done && applied_.load(std::memory_order_relaxed) < sync_target_ && !failed_) {
    if (writing_) {
      if (!deadline.wait(written_, lock)) done = fail(Cause::kMetadataLate);
    } else {
      sync_target_ = submitted_.load(std::memory_order_relaxed);
      done = write_queued(lock);
    }
  }
  if (done && !failed_) {
    STOA_ASSERT(sync_target_ <= applied_.load(std::memory_order_relaxed), "what is synced was written");
    const std::uint64_t journal = written_journal_;
    lock.unlock();
    const Stopwatch watch;
    done = kv_.sync();
    sync_seconds_.observe_ns(watch.ns());
    syncs_.add();
    lock.lock();
    // After a failed sync the kernel may have dropped the dirty pages: trying again would lie. On *no space* the store
    // reports that KvStore::sync makes all of it durable another way.
    if (!done && done.error().code != Errc::kNoSpace) poison(lock, done.error());
    if (done && !failed_) {
      tail_.set_durable(journal);
      STOA_ASSERT(durable_.load(std::memory_order_relaxed) <= sync_target_, "what is durable stays so");
      STOA_ASSERT(sync_target_ <= applied_.load(std::memory_order_relaxed), "what is durable was written");
      durable_.store(sync_target_, std::memory_order_release);
    }
  }
  syncing_ = false;
  const auto ended = turn_;
  turn_ ^= 1;
  const bool broken = failed_ || !done;
  // Without the lock: all woken threads take it, and would sleep again at once.
  lock.unlock();
  synced_[ended].notify_all();
  if (broken) {
    synced_[ended ^ 1].notify_all();
  } else {
    synced_[ended ^ 1].notify_one();
  }
  lock.lock();
  return done;
}

Status Committer::checkpoint_usage(LaggingUsage found) {
  {
    std::unique_lock lock(mutex_);
    // The thread that writes a group changes it.
    written_.wait(lock, [this] { return !writing_; });
    if (found.next_record != 0) usage_.begin_with(std::move(found));
    if (!usage_.lags() && queue_.empty() && !stalled_) return {};
  }
  STOA_CHECK_OK(commit({.checkpoints = true}));
  return wait_applied();
}

Status Committer::write_durably(const WriteBatch& batch, const Deadline& deadline) {
  STOA_TRY(ticket, commit({.batch = batch}, deadline));
  return wait_durable(ticket);
}

}  // namespace stoa::core

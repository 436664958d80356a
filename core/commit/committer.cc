#include "core/commit/committer.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/data/blob_record.h"
#include "core/kv/keys.h"

namespace stoa::core {

Committer::Committer(KvStore& kv, Ledger& ledger, MetricRegistry& metrics, std::uint64_t next_journal)
    : kv_(kv),
      ledger_(ledger),
      groups_(metrics.counter("stoa_commit_groups_total", "WAL writes of the committer")),
      units_(metrics.counter("stoa_commit_transactions_total", "Transactions that the committer wrote")),
      syncs_(metrics.counter("stoa_commit_syncs_total", "WAL syncs")),
      next_journal_(next_journal) {}

Result<CommitTicket> Committer::commit(const CommitUnit& unit) {
  Waiter self{.unit = &unit};
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(&self);
    if (!leading_) {
      leading_ = true;
      self.turn.store(kLead, std::memory_order_relaxed);
    }
  }
  int turn = self.turn.load(std::memory_order_acquire);
  while (turn == kWaiting) {
    self.turn.wait(kWaiting, std::memory_order_acquire);
    turn = self.turn.load(std::memory_order_acquire);
  }
  if (turn == kLead) lead(self);
  return self.result;
}

void Committer::lead(Waiter& self) {
  {
    const std::lock_guard lock(queue_mutex_);
    group_.swap(queue_);
  }
  const Status written = failed_.load(std::memory_order_relaxed) ? fail(Errc::kIo, "the metadata store failed before")
                                                                 : write_group(group_);
  if (!written && !failed_.exchange(true)) {
    log_error("commit", "the metadata store failed; no change is accepted until restart",
              {{"error", describe(written.error())}});
  }
  Result<CommitTicket> result{CommitTicket{applied_.load(std::memory_order_relaxed)}};
  if (written) {
    result = CommitTicket{applied_.fetch_add(1, std::memory_order_acq_rel) + 1};
  } else {
    result = fail(written.error());
  }
  // The next leader may begin before the members of this group run, so the group is emptied first.
  std::vector<Waiter*> finished;
  finished.swap(group_);
  {
    const std::lock_guard lock(queue_mutex_);
    if (queue_.empty()) {
      leading_ = false;
    } else {
      Waiter* const next = queue_.front();
      next->turn.store(kLead, std::memory_order_release);
      next->turn.notify_one();
    }
  }
  for (Waiter* waiter : finished) {
    waiter->result = result;
    if (waiter == &self) continue;
    waiter->turn.store(kDone, std::memory_order_release);
    waiter->turn.notify_one();
  }
}

Status Committer::write_group(std::span<Waiter* const> group) {
  ++group_number_;
  batches_.clear();
  extra_.clear();
  touched_.clear();
  for (const Waiter* waiter : group) {
    const CommitUnit& unit = *waiter->unit;
    if (!unit.batch->empty()) batches_.push_back(unit.batch);
    for (const Charge& charge : unit.charges) {
      if (charge.limits) charge.account->committed_limits = *charge.limits;
      for (Account* account = charge.account.get(); account != nullptr; account = account->parent.get()) {
        account->committed = account->committed + charge.delta;
        if (account->touched_in != group_number_) {
          account->touched_in = group_number_;
          touched_.push_back(account);
        }
      }
    }
    for (const std::string& record : unit.journal) extra_.put(Family::kJournal, keys::be64(next_journal_++), record);
  }
  for (const Account* account : touched_) {
    extra_.put(Family::kUsage, keys::id_key(account->dir),
               UsageRecord{account->committed, account->committed_limits}.encode());
  }
  STOA_CHECK_OK(count_references(group));
  // First, so that the removal of a directory's usage record by its rmdir in this very group comes behind.
  if (!extra_.empty()) batches_.insert(batches_.begin(), &extra_);
  groups_.add();
  units_.add(group.size());
  if (batches_.empty()) return {};
  return kv_.apply(batches_);
}

Status Committer::count_references(std::span<Waiter* const> group) {
  references_.clear();
  for (const Waiter* waiter : group) {
    for (const BlobReference& reference : waiter->unit->references) {
      const auto [it, first] = references_.try_emplace(reference.blob, 0);
      if (first) {
        std::string value;
        STOA_TRY(found, kv_.get(Family::kBlob, keys::be64(static_cast<std::uint64_t>(reference.blob)), &value));
        if (found) {
          STOA_TRY(record, BlobRecord::decode(value));
          it->second = record.references;
        }
      }
      it->second += reference.delta;
    }
  }
  for (const auto& [blob, count] : references_) {
    const std::string key = keys::be64(static_cast<std::uint64_t>(blob));
    STOA_ASSERT(count >= 0);
    if (count > 0) {
      extra_.put(Family::kBlob, key, BlobRecord{count}.encode());
    } else {
      extra_.remove(Family::kBlob, key);
      extra_.put(Family::kGc, key, {});
    }
  }
  return {};
}

Status Committer::wait_durable(CommitTicket ticket) {
  const auto wanted = static_cast<std::uint64_t>(ticket);
  if (durable_.load(std::memory_order_acquire) >= wanted) return {};
  std::unique_lock lock(sync_mutex_);
  while (durable_.load(std::memory_order_relaxed) < wanted) {
    if (failed_.load()) return fail(Errc::kIo, "the metadata store failed");
    if (syncing_) {
      synced_.wait(lock);
      continue;
    }
    syncing_ = true;
    const std::uint64_t target = applied_.load(std::memory_order_acquire);
    lock.unlock();
    const Status synced = kv_.sync();
    syncs_.add();
    lock.lock();
    syncing_ = false;
    if (synced) {
      durable_.store(target, std::memory_order_release);
    } else if (!failed_.exchange(true)) {
      // After a failed sync the kernel may have dropped the dirty pages: trying again would lie.
      log_error("commit", "sync of the metadata store failed; no change is accepted until restart",
                {{"error", describe(synced.error())}});
    }
    synced_.notify_all();
  }
  return {};
}

Status Committer::write_durably(const WriteBatch& batch) {
  STOA_TRY(ticket, commit({.batch = &batch}));
  return wait_durable(ticket);
}

}  // namespace stoa::core

#include "core/usage/committed_usage.h"

#include <algorithm>

#include "base/debug_assert.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

bool is_growth(const Usage& delta) {
  return delta.bytes > 0 || delta.files > 0 || delta.directories > 0;
}

void put_account(const Account& account, WriteBatch& batch) {
  const std::string key = keys::id_key(account.dir);
  const AccountCounters& counters = account.committed;
  if (account.ended && is_zero(counters.total.used)) {
    batch.remove(Family::kUsage, key);
    return;
  }
  UsageRecord record = counters.total.record();
  STOA_DEBUG_ASSERT(!is_negative(record.usage + -sum_of(record.by_class, kAllButLive)),
                    "classes are a part of the total");
  if (account.ended) {
    STOA_DEBUG_ASSERT(counters.owners == nullptr, "a directory that is gone counts no owners");
    record.limits = {};
    record.surviving_parent = account.parent != nullptr ? account.parent->dir : kNoFile;
    record.upload = account.child_class == UsageClass::kMultipart;
  }
  record.height = account.height.load(std::memory_order_relaxed);
  record.child_limits = counters.for_children();
  record.owners = counters.owners_counted();
  batch.put(Family::kUsage, key, record.encode());
}

void put_owner(const Account& account, const OwnerKey& owner, WriteBatch& batch) {
  const std::string key = keys::owner_key(account.dir, owner.of, owner.id);
  const OwnerCounters* const owners = account.committed.owners.get();
  const auto it = owners != nullptr ? owners->by_owner.find(owner) : CountersByOwner::const_iterator{};
  if (owners == nullptr || it == owners->by_owner.end()) {
    batch.remove(Family::kUsage, key);
    return;
  }
  // Partial counts are not stored: a start counts anew.
  const UsageRecord known = owners->exact() ? it->second.record() : UsageRecord{.limits = it->second.limits};
  if (is_zero(known.usage) && !known.limits.any()) {
    batch.remove(Family::kUsage, key);
  } else {
    batch.put(Family::kUsage, key, known.encode());
  }
}

}  // namespace

void CommittedUsage::begin_with(LaggingUsage found) {
  STOA_ASSERT(!lags(), "what a start found comes before any group");
  STOA_ASSERT(found.first_record <= found.next_record, "records of the log are numbered upwards");
  for (const AccountRef& account : found.accounts) lag(account);
  lagging_.owners = std::move(found.owners);
  lagging_.first_record = found.first_record;
  lagging_.next_record = found.next_record;
}

void CommittedUsage::begin_group() {
  log_.clear();
  ended_.clear();
  checkpoints_ = false;
}

void CommittedUsage::lag(const AccountRef& account) {
  if (account->lags_in == turn_) return;
  STOA_ASSERT(account->lags_in < turn_, "an account lags since a turn that was");
  account->lags_in = turn_;
  lagging_.accounts.push_back(account);
}

void CommittedUsage::apply(const std::vector<Charge>& charges, const std::vector<AccountChange>& changes) {
  // Growth first: a move or a replacement must not end the clock of a soft limit in between.
  for (const bool growth : {true, false}) {
    for (const Charge& charge : charges) {
      if (is_growth(charge.delta) == growth) apply(charge);
    }
  }
  for (const AccountChange& change : changes) apply(change);
}

void CommittedUsage::apply(const CountStep& step) {
  take_step(step, &Account::committed);
  checkpoint();
}

void CommittedUsage::apply(const Charge& charge) {
  const ChargeTarget& target = charge.target;
  STOA_ASSERT(target.of <= kClassesButLive.back(), "the log tells a class that its reader knows");
  if (target.account != nullptr && !is_zero(charge.delta))
    log_.add({target.account->dir, target.of, target.owner}, charge.delta);
  const Account* below = nullptr;
  // The references are stable: a directory that moves has nothing queued, and later charges find it moved.
  for_each_charged(target, [&](const AccountRef& account, UsageClass of) {
    AccountCounters& counters = account->committed;
    lag(account);
    if (account->ended) ended_.push_back(account);
    const auto changed = [&](const OwnerKey* owner, const Counters&, bool clock) {
      // The time when a soft limit was exceeded, or met again, is only in the record.
      if (clock) checkpoints_ = true;
      if (owner != nullptr && counters.owners->exact()) lagging_.owners.push_back({account.get(), *owner});
    };
    counters.charge(target.owner, target.file, change_of(charge.delta, of, counters.excluded()), clock_, changed);
    // A directory counts at least as much as the directories charged to it.
    STOA_DEBUG_ASSERT(below == nullptr || !is_negative(counters.total.used + -below->committed.total.used),
                      "what is below is no more than what is above");
    STOA_DEBUG_ASSERT(!is_negative(counters.total.used + -sum_of(counters.total.by_class(), kAllButLive)),
                      "classes are a part of the total");
    below = account.get();
  });
}

void CommittedUsage::apply(const AccountChange& change) {
  Account* const account = change.account.get();
  AccountCounters& counters = account->committed;
  STOA_ASSERT(!account->ended, "a directory that is gone changes no more");
  lag(change.account);
  // Most directories end without any settings.
  if (!change.ends || counters.says_anything()) checkpoints_ = true;
  if ((change.owners || change.ends) && counters.owners != nullptr) {
    for (const auto& [owner, counter] : counters.owners->by_owner) lagging_.owners.push_back({account, owner});
  }
  if (change.ends) {
    account->ended = true;
    ended_.push_back(change.account);
  }
  change.apply(counters, clock_, [&](const OwnerKey* owner, const Counters&, bool) {
    if (owner != nullptr) lagging_.owners.push_back({account, *owner});
  });
}

void CommittedUsage::put_group(WriteBatch& batch) {
  STOA_ASSERT(lagging_.first_record <= lagging_.next_record, "records of the log are numbered upwards");
  const std::uint64_t records = lagging_.next_record - lagging_.first_record;
  if (checkpoints_ || records >= kLogRecordsMax || lagging_.accounts.size() > kLaggingMax ||
      lagging_.owners.size() > kLaggingOwnersMax) {
    put_records(batch);
  } else {
    put_log(batch);
  }
}

void CommittedUsage::put_log(WriteBatch& batch) {
  for (const AccountRef& account : ended_) {
    STOA_ASSERT(account->ended, "only directories that are gone are written beside the log");
    STOA_ASSERT(account->parent == nullptr || account->parent->dir != account->dir, "no directory is its own parent");
    put_account(*account, batch);
    log_.add_gone(account->dir, {account->parent != nullptr ? account->parent->dir : kNoFile, account->child_class});
  }
  if (!log_.empty()) batch.put(Family::kState, keys::usage_log_key(lagging_.next_record++), log_.encode());
}

void CommittedUsage::put_records(WriteBatch& batch) {
  // In the order of their first change: a directory may have got a new account (MetaTxn::move_bare_directory). All its
  // charges come behind those of the old one, and so does its record under the same key.
  for (const AccountRef& account : lagging_.accounts) put_account(*account, batch);
  std::ranges::sort(lagging_.owners);
  lagging_.owners.erase(std::ranges::unique(lagging_.owners).begin(), lagging_.owners.end());
  for (const auto& [account, owner] : lagging_.owners) {
    STOA_ASSERT(account->lags_in == turn_, "whose owners lag, lags itself");
    put_owner(*account, owner, batch);
  }
  for (; lagging_.first_record < lagging_.next_record; ++lagging_.first_record) {
    batch.remove(Family::kState, keys::usage_log_key(lagging_.first_record));
  }
  lagging_.owners.clear();
  lagging_.accounts.clear();
  ++turn_;
}

}  // namespace stoa::core

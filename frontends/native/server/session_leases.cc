#include "frontends/native/server/session_leases.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::native {

bool SessionLeases::ask(U64 number, core::FileId file, core::LeaseKind kind) {
  const std::lock_guard lock(mutex_);
  if (const auto known = held_.find(number); known != held_.end()) {
    Held& held = known->second;
    if (held.lost || held.file != file || held.kind != kind) return false;
    ++held.asking;
    ++asking_;
    return true;
  }
  if (held_.size() >= kLeasesPerSessionMax || of_files_.contains(file)) return false;
  held_.emplace(number, Held{.file = file, .kind = kind, .asking = 1});
  of_files_.emplace(file, number);
  ++asking_;
  return true;
}

void SessionLeases::end_asking_locked() {
  STOA_ASSERT(asking_ > 0, "a grant ends once");
  if (--asking_ == 0) early_.clear();
}

bool SessionLeases::granted(U64 number, const core::GrantedLease& lease, bool& recalled) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(number);
  std::optional<core::LeaseRecall> early;
  if (const auto came = early_.find(lease.id); came != early_.end()) early = came->second;
  end_asking_locked();
  if (found == held_.end() || found->second.lost) return false;
  Held& held = found->second;
  if (held.asking > 0) --held.asking;
  if (held.id != lease.id) {
    numbers_.erase(held.id);
    held.id = lease.id;
    numbers_.emplace(lease.id, number);
    end_recall_locked(number, held);
  }
  held.bits = lease.bits;
  if (early && !held.recall) {
    note_recall_locked(number, held, *early, Clock::now());
    recalled = true;
  }
  return true;
}

std::uint32_t SessionLeases::refused(U64 number) {
  const std::lock_guard lock(mutex_);
  end_asking_locked();
  const auto found = held_.find(number);
  if (found == held_.end()) return core::kLeaseNone;
  Held& held = found->second;
  if (held.asking > 0) --held.asking;
  if (held.id == core::LeaseId{} && held.asking == 0) {
    erase_locked(found);
    return core::kLeaseNone;
  }
  return held.lost ? std::uint32_t{core::kLeaseNone} : held.bits;
}

void SessionLeases::note_recall_locked(U64 number, Held& held, const core::LeaseRecall& recall, Clock::time_point now) {
  if (!held.recall) {
    if (recalled_.empty()) doubtful_from_ns_.store((now + kRecallDoubtTime).time_since_epoch().count());
    recalled_.insert(number);
    any_recalled_.store(true);
    held.recalled_at = now;
  }
  held.recall =
      RecallNotice{.lease = number,
                   .file = static_cast<U64>(recall.file),
                   .subject = static_cast<U64>(recall.subject == core::kNoFile ? recall.file : recall.subject),
                   .keeps = held.recall ? held.recall->keeps & recall.keeps : recall.keeps,
                   .reason = static_cast<U32>(recall.reason)};
  unsent_.insert(number);
}

void SessionLeases::end_recall_locked(U64 number, Held& held) {
  if (!held.recall) return;
  held.recall.reset();
  recalled_.erase(number);
  unsent_.erase(number);
  any_recalled_.store(!recalled_.empty());
}

bool SessionLeases::recalled(const core::LeaseRecall& recall, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(recall.lease);
  if (known == numbers_.end()) {
    if (asking_ > 0) early_.insert_or_assign(recall.lease, recall);
    return false;
  }
  note_recall_locked(known->second, held_.at(known->second), recall, now);
  return true;
}

std::vector<RecallNotice> SessionLeases::take_unsent(std::size_t most) {
  std::vector<RecallNotice> notices;
  const std::lock_guard lock(mutex_);
  while (notices.size() < most && !unsent_.empty()) {
    notices.push_back(*held_.at(*unsent_.begin()).recall);
    unsent_.erase(unsent_.begin());
  }
  return notices;
}

bool SessionLeases::send_again() {
  const std::lock_guard lock(mutex_);
  unsent_ = recalled_;
  return !unsent_.empty();
}

void SessionLeases::kept(U64 number, std::uint32_t bits) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(number);
  if (found == held_.end()) return;
  Held& held = found->second;
  if (bits == core::kLeaseNone) return erase_locked(found);
  held.bits = bits;
  // An answer to an earlier recall does not answer one that leaves less.
  if (held.recall && (bits & ~held.recall->keeps) == 0) end_recall_locked(number, held);
}

void SessionLeases::erase_locked(ByNumber::iterator found) {
  Held& held = found->second;
  end_recall_locked(found->first, held);
  if (held.lost) {
    lost_.erase(found->first);
    any_lost_.store(!lost_.empty());
  } else {
    of_files_.erase(held.file);
    numbers_.erase(held.id);
  }
  held_.erase(found);
}

U32 SessionLeases::flags_recalled(core::StateTable& state, Clock::time_point now) {
  U32 flags = 0;
  if (now.time_since_epoch().count() >= doubtful_from_ns_.load()) {
    // Until the next look they are doubtful, which is all that counts.
    find_lapsed(state, now);
    const bool doubtful = any_recalled_.load() && now.time_since_epoch().count() >= doubtful_from_ns_.load();
    if (doubtful) flags |= kRecallsUnanswered;
  }
  if (any_lost_.load()) flags |= kLeasesWereLost;
  return flags;
}

void SessionLeases::lose_locked(U64 number, Held& held) {
  of_files_.erase(held.file);
  numbers_.erase(held.id);
  held.lost = true;
  held.bits = core::kLeaseNone;
  lost_.insert(number);
  any_lost_.store(true);  // before the recall ends: replies see one of both
  end_recall_locked(number, held);
}

void SessionLeases::find_lapsed(core::StateTable& state, Clock::time_point now) {
  constexpr std::chrono::milliseconds kLookEvery{100};
  if (!any_recalled_.load() || now.time_since_epoch().count() < next_look_ns_.load()) return;
  next_look_ns_.store((now + kLookEvery).time_since_epoch().count());
  std::vector<core::LeaseId> gone;
  {
    const std::lock_guard lock(mutex_);
    auto oldest = Clock::time_point::max();
    for (auto at = recalled_.begin(); at != recalled_.end();) {
      const U64 number = *at++;
      Held& held = held_.at(number);
      if (!state.lease_revoked(held.id)) {
        oldest = std::min(oldest, held.recalled_at);
        continue;
      }
      gone.push_back(held.id);
      lose_locked(number, held);
    }
    if (oldest != Clock::time_point::max())
      doubtful_from_ns_.store((oldest + kRecallDoubtTime).time_since_epoch().count());
  }
  for (const core::LeaseId lease : gone) state.return_lease(lease);
}

std::vector<U64> SessionLeases::take_lost(std::size_t most) {
  std::vector<U64> numbers;
  const std::lock_guard lock(mutex_);
  while (numbers.size() < most && !lost_.empty()) {
    numbers.push_back(*lost_.begin());
    erase_locked(held_.find(numbers.back()));
  }
  return numbers;
}

std::optional<core::LeaseId> SessionLeases::find(U64 number) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(number);
  if (found == held_.end() || found->second.lost || found->second.id == core::LeaseId{}) return std::nullopt;
  return found->second.id;
}

}  // namespace stoa::native

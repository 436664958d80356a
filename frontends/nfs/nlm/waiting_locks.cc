#include "frontends/nfs/nlm/waiting_locks.h"

#include "base/log.h"
#include "frontends/nfs/nlm/status.h"

namespace stoa::nlm {
namespace {

constexpr std::uint32_t kGrantedProcedure = 5;
constexpr std::chrono::seconds kPauseMax{30};

bool overlap(const core::LockRange& a, const core::LockRange& b) {
  const auto last = [](const core::LockRange& r) {
    return r.length == core::LockRange::kToEnd ? ~std::uint64_t{0} : r.offset + (r.length - 1);
  };
  return a.offset <= last(b) && b.offset <= last(a);
}

}  // namespace

class WaitingLocks::Turn {
 public:
  Turn(WaitingLocks& waiting, const core::LockRequest& lock)
      : waiting_(waiting), who_(lock.owner.holder, lock.file, lock.owner.name) {
    std::unique_lock guard(waiting_.mutex_);
    waiting_.turn_ended_.wait(guard, [&] { return waiting_.turns_.insert(who_).second; });
  }
  ~Turn() {
    {
      const std::lock_guard guard(waiting_.mutex_);
      waiting_.turns_.erase(who_);
    }
    waiting_.turn_ended_.notify_all();
  }
  Turn(const Turn&) = delete;

 private:
  WaitingLocks& waiting_;
  const OwnerOfFile who_;
};

WaitingLocks::WaitingLocks(core::StateTable& state, rpc::RemoteCaller& caller, MetricRegistry& metrics)
    : state_(state),
      caller_(caller),
      calls_(metrics.counter("stoa_nfs_lock_grants_sent_total", "GRANTED calls to clients that waited for a lock")),
      given_back_(metrics.counter("stoa_nfs_lock_grants_refused_total",
                                  "Granted locks that the waiting client did not want, or not answer for")),
      // A late answer to a call of an earlier run must not be taken for one of ours.
      next_cookie_(std::uint64_t{state.start_number()} << 32 | 1) {}

WaitingLocks::Key WaitingLocks::key_of(const core::LockRequest& lock) {
  return {lock.owner.holder, lock.file, lock.owner.name, lock.range.offset, lock.range.length, lock.exclusive};
}

std::map<WaitingLocks::Key, WaitingLocks::Waiting>::iterator WaitingLocks::erase(std::map<Key, Waiting>::iterator at) {
  by_cookie_.erase(at->second.cookie);
  const auto mine = by_address_.find(at->second.host->address);
  if (--mine->second == 0) by_address_.erase(mine);
  return waiting_.erase(at);
}

NlmStatus WaitingLocks::ask(const HostRef& host, const core::LockRequest& wanted, const LockArguments& lock) {
  const Turn turn(*this, wanted);
  const Key key = key_of(wanted);
  bool place = true;
  {
    // Before the call of the table, which may call granted() at once.
    const std::lock_guard guard(mutex_);
    if (!waiting_.contains(key)) {
      place = has_place(host->address);
      if (place) {
        const std::uint64_t cookie = next_cookie_++;
        waiting_.emplace(key, Waiting{host, wanted, cookie, granted_arguments(cookie, wanted.exclusive, lock)});
        by_cookie_.emplace(cookie, key);
        ++by_address_[host->address];
      }
    }
  }
  if (!place) return take(wanted);
  const auto asked = state_.lock_or_wait(wanted);
  const bool waits = asked && !*asked;
  bool known = false;
  {
    const std::lock_guard guard(mutex_);
    const auto at = waiting_.find(key);
    known = at != waiting_.end();
    if (known && !waits) erase(at);
  }
  if (waits && known) return NlmStatus::kBlocked;
  // It was granted meanwhile and the client has taken it; or it was dropped with its host, of which nothing is left.
  if (waits) return state_.has_locks(wanted.file, wanted.owner) ? NlmStatus::kGranted : NlmStatus::kDenied;
  if (asked) return NlmStatus::kGranted;
  return asked.error().code == Errc::kBusy ? NlmStatus::kDeniedGracePeriod : to_nlm_status(asked.error().code);
}

bool WaitingLocks::has_place(const Address& address) const {
  if (waiting_.size() >= kLocksMax) return false;
  const auto mine = by_address_.find(address);
  return mine == by_address_.end() || mine->second < kPerAddress;
}

NlmStatus WaitingLocks::take(const core::LockRequest& wanted) {
  const auto held = state_.lock(wanted.file, wanted.owner, wanted.range, wanted.exclusive);
  if (!held) return to_nlm_status(held.error().code);
  if (held->has_value()) return NlmStatus::kDeniedGracePeriod;
  finish(wanted);
  return NlmStatus::kGranted;
}

Result<std::optional<core::HeldLock>> WaitingLocks::lock(const core::LockRequest& wanted) {
  const Turn turn(*this, wanted);
  auto held = state_.lock(wanted.file, wanted.owner, wanted.range, wanted.exclusive);
  if (held && !held->has_value()) finish(wanted);
  return held;
}

Status WaitingLocks::unlock(const core::LockRequest& known) {
  const Turn turn(*this, known);
  finish(known);
  return state_.unlock(known.file, known.owner, known.range);
}

void WaitingLocks::finish(const core::LockRequest& known) {
  const std::lock_guard guard(mutex_);
  if (waiting_.empty()) return;
  const Key first{known.owner.holder, known.file, known.owner.name, 0, 0, false};
  for (auto at = waiting_.lower_bound(first); at != waiting_.end();) {
    const core::LockRequest& wanted = at->second.wanted;
    if (wanted.owner != known.owner || wanted.file != known.file) break;
    at = at->second.granted && overlap(wanted.range, known.range) ? erase(at) : std::next(at);
  }
}

bool WaitingLocks::cancel(const core::LockRequest& wanted) {
  const Turn turn(*this, wanted);
  {
    const std::lock_guard guard(mutex_);
    const auto at = waiting_.find(key_of(wanted));
    if (at == waiting_.end()) return false;
    erase(at);
  }
  if (!state_.cancel_wait(wanted)) give_back(wanted);
  return true;
}

void WaitingLocks::drop(const HostRef& host) {
  const std::lock_guard guard(mutex_);
  for (auto at = waiting_.lower_bound(Key{host->holder, {}, {}, 0, 0, false});
       at != waiting_.end() && at->first.holder == host->holder;) {
    at = erase(at);
  }
}

void WaitingLocks::lock_granted(const core::LockGranted& event) {
  const std::lock_guard guard(mutex_);
  const auto at = waiting_.find(key_of(event.lock));
  if (at == waiting_.end()) return;  // the caller that removed it gives the lock back
  at->second.granted = true;
  at->second.since = Clock::now();
  call(at->second, at->second.since);
}

void WaitingLocks::call(Waiting& waiting, Clock::time_point now) {
  waiting.due = now + waiting.pause;
  waiting.pause = std::min(waiting.pause * 2, kPauseMax);
  calls_.add();
  (void)caller_.call(
      {waiting.host->address, kNlmProgram, kNlmVersion, kGrantedProcedure, waiting.call},
      [this, address = waiting.host->address, cookie = waiting.cookie](Result<std::span<const std::byte>> reply) {
        if (!reply) return;  // it is called again when due
        rpc::XdrReader in(*reply);
        const Answer answer = read_answer(in);
        if (in.ok()) answered(address, cookie, answer.status);
      });
}

void WaitingLocks::answered(const Address& from, std::uint64_t cookie, NlmStatus status) {
  core::LockRequest refused;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_cookie_.find(cookie);
    if (found == by_cookie_.end() || status == NlmStatus::kDeniedGracePeriod) return;
    const auto at = waiting_.find(found->second);
    if (!at->second.granted || at->second.host->address != from) return;
    if (status == NlmStatus::kGranted) {
      erase(at);
      return;
    }
    refused = at->second.wanted;
  }
  refuse(cookie, refused);
}

void WaitingLocks::refuse(std::uint64_t cookie, const core::LockRequest& lock) {
  const Turn turn(*this, lock);
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_cookie_.find(cookie);
    if (found == by_cookie_.end()) return;
    erase(waiting_.find(found->second));
  }
  give_back(lock);
}

void WaitingLocks::give_back(const core::LockRequest& lock) {
  given_back_.add();
  // Too many locks, and this would split one: it stays until the client unlocks or goes.
  if (const Status unlocked = state_.unlock(lock.file, lock.owner, lock.range); !unlocked) {
    log_warning("nlm", "a lock that nobody wants stays", {{"error", describe(unlocked.error())}});
  }
}

void WaitingLocks::call_due(Clock::time_point now) {
  std::vector<std::pair<std::uint64_t, core::LockRequest>> nobodys;
  {
    const std::lock_guard guard(mutex_);
    for (auto& [key, waiting] : waiting_) {
      if (!waiting.granted) continue;
      if (now - waiting.since >= kPatience) {
        nobodys.emplace_back(waiting.cookie, waiting.wanted);
      } else if (now >= waiting.due) {
        call(waiting, now);
      }
    }
  }
  for (const auto& [cookie, lock] : nobodys) refuse(cookie, lock);
}

bool WaitingLocks::any() const {
  const std::lock_guard guard(mutex_);
  return !waiting_.empty();
}

}  // namespace stoa::nlm

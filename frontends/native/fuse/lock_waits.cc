#include "frontends/native/fuse/lock_waits.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "frontends/native/fuse/errno_table.h"

namespace stoa::native::fuse {
namespace {

constexpr std::chrono::milliseconds kFirstPause{4};
constexpr std::chrono::milliseconds kLongestPause{250};

}  // namespace

LockWaits::~LockWaits() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (const auto& wait : waits_) {
      wait->call.interrupt();
      wait->call.unmount();
    }
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool LockWaits::add(std::uint64_t unique, const Caller& caller, const LockCall& lock, ReplyChannel& channel) {
  const std::lock_guard guard(mutex_);
  if (ends_ || waits_.size() >= kWaitsMost) return false;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  waits_.push_back(std::make_shared<Wait>(unique, caller, lock, channel));
  changed_.notify_all();
  return true;
}

void LockWaits::interrupt(std::uint64_t unique) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(waits_, unique, [](const auto& wait) { return wait->unique; });
  if (found == waits_.end()) return;
  const std::shared_ptr<Wait> wait = *found;
  wait->call.interrupt();
  wait->next = {};
  // The thread may be busy for long: with the question of another, to a server that is gone.
  if (wait.get() != asking_) {
    wait->channel->reply(unique, EINTR, {});
    waits_.erase(found);
  }
  changed_.notify_all();
}

void LockWaits::retry_now(core::FileId file) {
  const std::lock_guard lock(mutex_);
  for (const auto& wait : waits_) {
    if (wait->lock.file.id != file) continue;
    wait->next = {};
    wait->pause = {};
    changed_.notify_all();
  }
}

bool LockWaits::pause(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  paused_ = true;
  if (changed_.wait_until(lock, until, [this] { return asking_ == nullptr; })) return true;
  paused_ = false;
  changed_.notify_all();
  return false;
}

void LockWaits::resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  changed_.notify_all();
}

std::vector<LockWaits::Waiting> LockWaits::waiting() {
  std::vector<Waiting> all;
  const std::lock_guard lock(mutex_);
  // Interrupted while it was asked for, which had no result.
  std::erase_if(waits_, [](const auto& wait) {
    if (!wait->call.interrupted()) return false;
    wait->channel->reply(wait->unique, EINTR, {});
    return true;
  });
  for (const auto& wait : waits_) all.push_back({wait->unique, wait->call.caller(), wait->lock, wait->channel});
  return all;
}

void LockWaits::leave() {
  const std::lock_guard lock(mutex_);
  waits_.clear();
}

std::size_t LockWaits::size() const {
  const std::lock_guard lock(mutex_);
  return waits_.size();
}

bool LockWaits::ask(Wait& wait) {
  if (wait.call.interrupted()) {
    wait.channel->reply(wait.unique, EINTR, {});
    return true;
  }
  const auto granted = fs_.set_lock(wait.call, wait.lock, true);
  if (granted && !*granted) return false;
  wait.channel->reply(wait.unique, granted ? 0 : errno_of(granted.error()), {});
  return true;
}

// The wait whose turn is first, once it has come. Empty: ends.
std::shared_ptr<LockWaits::Wait> LockWaits::next_due(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (ends_ && waits_.empty()) return nullptr;
    if (waits_.empty() || (paused_ && !ends_)) {
      changed_.wait(lock);
      continue;
    }
    const auto first =
        *std::min_element(waits_.begin(), waits_.end(), [](const auto& a, const auto& b) { return a->next < b->next; });
    if (ends_ || first->next <= Clock::now()) return first;
    changed_.wait_until(lock, first->next);
  }
}

void LockWaits::run() {
  std::unique_lock lock(mutex_);
  while (const auto wait = next_due(lock)) {
    wait->pause = std::clamp(wait->pause * 2, kFirstPause, kLongestPause);
    wait->next = Clock::now() + wait->pause;
    asking_ = wait.get();
    lock.unlock();
    const bool answered = ask(*wait);
    lock.lock();
    asking_ = nullptr;
    if (paused_) changed_.notify_all();
    if (answered) std::erase(waits_, wait);
  }
}

}  // namespace stoa::native::fuse

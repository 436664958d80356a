// Who reads a channel: a caller that waits for its reply, the next one when that has it, and the channel's own thread
// when nobody waits.
#include <algorithm>
#include <utility>

#include "frontends/native/client/call_turns.h"
#include "frontends/native/client/calls_in_flight.h"

namespace stoa::native {
namespace {

// The thread stays away for so long after the last caller, who is likely to come again. What the server says by itself
// meanwhile waits for so long.
constexpr std::chrono::milliseconds kCalm{1};
constexpr std::chrono::milliseconds kNap{4};  // while callers read

}  // namespace

void CallsInFlight::Told::tell() const {
  if (caller != nullptr) caller->give();
  if (thread != nullptr) thread->notify_one();
}

CallsInFlight::Told CallsInFlight::wake_locked(Slot& slot) {
  return slot.call != nullptr && std::exchange(slot.call->sleeps, false) ? Told{.caller = &slot.woken} : Told{};
}

Status CallsInFlight::wait(const std::shared_ptr<Call>& call, const Patience& patience) {
  const std::size_t number = channel_of(call->slot);
  Channel& channel = channels_[number];
  Slot& slot = slots_[call->slot];
  std::unique_lock lock(mutex_);
  Turns turns(patience);
  Status waited;
  bool reads = false;
  call->waiting = true;
  while (call->reply == nullptr) {
    if (stopped_) waited = fail(Errc::kShutdown);
    if (waited) waited = turns.check(lock);
    if (!waited || call->reply != nullptr) break;
    if (!reads && channel.up && !channel.read) {
      reads = channel.read = true;
      ++channel.readings;
    }
    if (reads && channel.up) {
      lock.unlock();
      reading_.read(number, turns.until());
      lock.lock();
    } else {
      if (reads) leave_locked(number).tell();
      reads = false;
      if (stopped_) continue;
      call->sleeps = true;
      lock.unlock();
      slot.woken.sleep(turns.until());
      lock.lock();
      call->sleeps = false;
    }
  }
  call->waiting = false;
  // What was told to this one may have been meant for another.
  const Told told = reads ? leave_locked(number) : next_reader_locked(number);
  const bool replied = call->reply != nullptr;
  if (!replied) call->abandoned = true;
  lock.unlock();
  told.tell();
  return replied ? Status{} : waited;
}

CallsInFlight::Told CallsInFlight::leave_locked(std::size_t number) {
  Channel& channel = channels_[number];
  channel.read = false;
  channel.last_read = Deadline::Clock::now();
  channel.unread.notify_all();
  return next_reader_locked(number);
}

CallsInFlight::Told CallsInFlight::next_reader_locked(std::size_t number) {
  Channel& channel = channels_[number];
  if (channel.read || !channel.up) return {};
  for (std::size_t i = number; i < slots_.size(); i += channels_.size()) {
    const auto& call = slots_[i].call;
    if (call == nullptr || !call->waiting || call->reply != nullptr) continue;
    return wake_locked(slots_[i]);  // one that is awake will see it
  }
  return {.thread = channel.thread_rests || channel.unattended > 0 ? &channel.thread : nullptr};
}

void CallsInFlight::channel_up(std::size_t number) {
  const std::lock_guard lock(mutex_);
  channels_[number].broken = false;
  channels_[number].up = true;
  next_reader_locked(number).tell();
}

void CallsInFlight::channel_down(std::size_t number) {
  std::unique_lock lock(mutex_);
  Channel& channel = channels_[number];
  channel.up = false;
  channel.unread.wait(lock, [&] { return !channel.read; });
}

void CallsInFlight::channel_broken(std::size_t number) {
  const std::lock_guard lock(mutex_);
  Channel& channel = channels_[number];
  channel.broken = true;
  channel.up = false;
  channel.thread.notify_one();
}

CallsInFlight::Turn CallsInFlight::next_turn(std::size_t number, Deadline::Clock::time_point until) {
  std::unique_lock lock(mutex_);
  Channel& channel = channels_[number];
  std::uint64_t readings = channel.readings;
  bool busy = true;  // callers came and went since the last look
  for (;;) {
    if (stopped_ || channel.broken) return Turn::kBroken;
    const auto now = Deadline::Clock::now();
    if (now >= until) return Turn::kLater;
    if (!channel.read && (channel.unattended > 0 || now - channel.last_read >= kCalm)) return Turn::kLook;
    // One that reads for long tells when it leaves; those that come and go need not.
    channel.thread_rests = channel.read && !busy;
    const auto wake = channel.thread_rests ? until : now + (channel.read ? kNap : kCalm);
    channel.thread.wait_until(lock, std::min(wake, until));
    channel.thread_rests = false;
    busy = channel.readings != readings;
    readings = channel.readings;
  }
}

bool CallsInFlight::begin_reading(std::size_t number) {
  const std::lock_guard lock(mutex_);
  Channel& channel = channels_[number];
  if (channel.read || !channel.up) return false;
  channel.read = true;
  return true;
}

void CallsInFlight::end_reading(std::size_t number) {
  Told told;
  {
    const std::lock_guard lock(mutex_);
    Channel& channel = channels_[number];
    channel.read = false;
    channel.unread.notify_all();
    told = next_reader_locked(number);
  }
  told.tell();
}

}  // namespace stoa::native

#include "frontends/native/client/calls_in_flight.h"

#include <algorithm>

#include "frontends/native/client/call_turns.h"
#include "frontends/native/client/call_wishes.h"

namespace stoa::native {

CallsInFlight::CallsInFlight(std::span<const U32> sequences, std::size_t channels, ChannelReading& reading)
    : slots_(sequences.size()), channels_(channels), reading_(reading) {
  for (std::size_t i = 0; i < sequences.size(); ++i) slots_[i].sequence = sequences[i];
}

std::shared_ptr<CallsInFlight::Call> CallsInFlight::take_slot_locked(Done done) {
  if (frozen_) return nullptr;
  const auto free = std::ranges::find_if(slots_, [](const Slot& slot) { return slot.call == nullptr; });
  if (free == slots_.end()) return nullptr;
  auto call = std::make_shared<Call>();
  call->slot = static_cast<U32>(free - slots_.begin());
  call->sequence = ++free->sequence;
  call->done = std::move(done);
  free->call = call;
  return call;
}

Result<std::shared_ptr<CallsInFlight::Call>> CallsInFlight::begin(const Patience& patience, const Make& make,
                                                                  Done done) {
  std::unique_lock lock(mutex_);
  Turns turns(patience);
  std::shared_ptr<Call> call;
  for (;;) {
    if (stopped_) return fail(Errc::kShutdown);
    call = take_slot_locked(done);
    if (call != nullptr) break;
    if (const Status waited = turns.check(lock); !waited) {
      free_.notify_one();  // what was told to this one may have been meant for another
      return fail(waited.error());
    }
    turns.wait(free_, lock);
  }
  const U64 session = session_;
  lock.unlock();
  auto frame = std::make_shared<Frame>(make(session, call->slot, call->sequence));
  lock.lock();
  if (stopped_) {
    slots_[call->slot].call = nullptr;
    return fail(Errc::kShutdown);
  }
  if (session != session_) readdress(frame->head, session_);
  call->frame = std::move(frame);
  if (!call->done) return call;
  Channel& channel = channels_[channel_of(call->slot)];
  ++channel.unattended;
  const Told told{.thread = channel.read ? nullptr : &channel.thread};
  lock.unlock();
  told.tell();
  return call;
}

void CallsInFlight::again(Call& call) {
  const std::lock_guard lock(mutex_);
  call.reply = nullptr;
  if (call.done) ++channels_[channel_of(call.slot)].unattended;
}

void CallsInFlight::give_up(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  call->abandoned = true;
  call->reply = nullptr;
}

bool CallsInFlight::abandon(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  if (call->reply != nullptr) return false;
  --channels_[channel_of(call->slot)].unattended;
  call->abandoned = true;
  call->done = {};
  return true;
}

void CallsInFlight::end(const std::shared_ptr<Call>& call, bool unused) {
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[call->slot];
    if (slot.call != call) return;
    slot.call = nullptr;
    if (unused) --slot.sequence;
  }
  free_.notify_one();
}

std::shared_ptr<const Frame> CallsInFlight::leaves(Call& call, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (call.reply != nullptr || call.frame == nullptr) return nullptr;
  if (call.sent_ns == 0) call.sent_ns = now_ns;
  return call.frame;
}

std::shared_ptr<CallsInFlight::Call> CallsInFlight::asked(U32 number, U32 sequence) const {
  const std::lock_guard lock(mutex_);
  if (number >= slots_.size()) return nullptr;
  const auto& call = slots_[number].call;
  const bool open = call != nullptr && call->sequence == sequence && call->reply == nullptr && call->frame != nullptr;
  return open ? call : nullptr;
}

bool CallsInFlight::answered(const std::shared_ptr<Call>& call, std::shared_ptr<const Content> reply,
                             const MessageView& answer) {
  Done done;
  Slot& slot = slots_[call->slot];
  {
    std::unique_lock lock(mutex_);
    if (slot.call != call || call->reply != nullptr) return true;
    if (!call->abandoned) {
      call->answer = answer;
      call->reply = std::move(reply);
      if (!call->done) {
        const Told told = wake_locked(slot);
        lock.unlock();
        told.tell();
        return true;
      }
      --channels_[channel_of(call->slot)].unattended;
      done = call->done;
    } else {
      const WireStatus status{answer.header.status};
      // It runs yet: the slot is not free before its reply.
      if (status == WireStatus::in_progress) return false;
      if (!is_counted(status)) --slot.sequence;
      slot.call = nullptr;
    }
  }
  if (done) {
    done(call);
    return true;
  }
  free_.notify_one();
  settled_.notify_all();
  return false;
}

bool CallsInFlight::abandoned_writes_locked(const std::vector<U64>& files) const {
  const auto named = [&](U64 file) { return std::ranges::find(files, file) != files.end(); };
  const bool any = named(0);
  return std::ranges::any_of(slots_, [&](const Slot& slot) {
    if (slot.call == nullptr || !slot.call->abandoned || slot.call->frame == nullptr) return false;
    return std::ranges::any_of(slot.call->frame->written, [&](U64 file) { return any || file == 0 || named(file); });
  });
}

bool CallsInFlight::has_abandoned_writes() const {
  const std::lock_guard lock(mutex_);
  return abandoned_writes_locked({0});
}

Status CallsInFlight::wait_for_abandoned_writes(const std::vector<U64>& files, const Patience& patience) {
  std::unique_lock lock(mutex_);
  Turns turns(patience);
  while (abandoned_writes_locked(files)) {
    if (stopped_) return fail(Errc::kShutdown);
    STOA_CHECK_OK(turns.check(lock));
    if (abandoned_writes_locked(files)) turns.wait(settled_, lock);
  }
  return {};
}

Result<std::vector<U32>> CallsInFlight::freeze(const Patience& patience) {
  std::unique_lock lock(mutex_);
  frozen_ = true;
  Turns turns(patience);
  const auto busy = [](const Slot& slot) { return slot.call != nullptr; };
  while (std::ranges::any_of(slots_, busy)) {
    const Status waited = stopped_ ? Status(fail(Errc::kShutdown)) : turns.check(lock);
    if (!waited) {
      lock.unlock();
      thaw();
      return fail(waited.error());
    }
    // A slot that becomes free is told to one of those who wait for it.
    if (std::ranges::any_of(slots_, busy)) turns.wait(free_, lock);
  }
  std::vector<U32> sequences;
  for (const Slot& slot : slots_) sequences.push_back(slot.sequence);
  return sequences;
}

void CallsInFlight::thaw() {
  {
    const std::lock_guard lock(mutex_);
    frozen_ = false;
  }
  free_.notify_all();
}

std::vector<std::shared_ptr<const Frame>> CallsInFlight::unanswered(std::size_t channel, std::int64_t now_ns) {
  std::vector<std::shared_ptr<const Frame>> frames;
  const std::lock_guard lock(mutex_);
  for (U32 i = 0; i < slots_.size(); ++i) {
    const auto& call = slots_[i].call;
    if (call == nullptr || call->reply != nullptr || call->frame == nullptr || channel_of(i) != channel) continue;
    // Not anew: the answer may be that of the first time.
    if (call->sent_ns == 0) call->sent_ns = now_ns;
    frames.push_back(call->frame);
  }
  return frames;
}

std::shared_ptr<const Frame> CallsInFlight::frame_of(const Call& call) const {
  const std::lock_guard lock(mutex_);
  return call.frame;
}

void CallsInFlight::readdress_all(U64 session) {
  const std::lock_guard lock(mutex_);
  session_ = session;
  for (Slot& slot : slots_) {
    if (slot.call == nullptr || slot.call->frame == nullptr) continue;
    auto frame = std::make_shared<Frame>(*slot.call->frame);
    readdress(frame->head, session);
    slot.call->frame = std::move(frame);
  }
}

std::vector<std::shared_ptr<CallsInFlight::Call>> CallsInFlight::stop() {
  std::vector<std::shared_ptr<Call>> unattended;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (Slot& slot : slots_) {
    wake_locked(slot).tell();
    if (slot.call != nullptr && slot.call->done && slot.call->reply == nullptr && slot.call->frame != nullptr)
      unattended.push_back(std::exchange(slot.call, nullptr));
  }
  free_.notify_all();
  settled_.notify_all();
  for (Channel& channel : channels_) channel.thread.notify_all();
  return unattended;
}

}  // namespace stoa::native

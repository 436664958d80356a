#include "frontends/native/client/calls_in_flight.h"

#include <algorithm>

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};

}  // namespace

// The wait of one caller, in turns: until something has changed, or the caller is to be asked.
class CallsInFlight::Turns {
 public:
  Turns(CallsInFlight& calls, const Patience& patience) : calls_(calls), patience_(patience) {}

  // kTimeout: the caller's patience is over. The lock is let go meanwhile.
  Status next(std::unique_lock<std::mutex>& lock) {
    const Deadline& deadline = patience_.deadline;
    const auto now = Deadline::Clock::now();
    const bool asks = patience_.interrupted != nullptr;
    if (!deadline.is_never() && now >= deadline.at())
      return fail(Errc::kTimeout, "the server has not answered in time");
    if (asks && now >= ask_at_) {
      ask_at_ = now + kAskEvery;
      lock.unlock();
      const bool over = patience_.interrupted();
      lock.lock();
      if (over) return fail(Errc::kTimeout, "interrupted");
      return {};
    }
    (void)Deadline(asks ? std::min(ask_at_, deadline.at()) : deadline.at()).wait(calls_.changed_, lock);
    return {};
  }

 private:
  CallsInFlight& calls_;
  const Patience& patience_;
  Deadline::Clock::time_point ask_at_ = Deadline::Clock::now() + kAskEvery;
};

Result<std::shared_ptr<CallsInFlight::Call>> CallsInFlight::begin(
    const Patience& patience, const std::function<Bytes(U32 slot, U32 sequence)>& encode) {
  std::unique_lock lock(mutex_);
  Turns turns(*this, patience);
  for (;;) {
    if (stopped_) return fail(Errc::kShutdown);
    const auto free = std::ranges::find_if(slots_, [](const Slot& slot) { return slot.call == nullptr; });
    if (free != slots_.end()) {
      auto call = std::make_shared<Call>();
      call->slot = static_cast<U32>(free - slots_.begin());
      call->sequence = ++free->sequence;
      call->frame = std::make_shared<const Bytes>(encode(call->slot, call->sequence));
      free->call = call;
      return call;
    }
    STOA_CHECK_OK(turns.next(lock));
  }
}

Status CallsInFlight::wait(const std::shared_ptr<Call>& call, const Patience& patience) {
  std::unique_lock lock(mutex_);
  Turns turns(*this, patience);
  while (call->reply == nullptr) {
    if (stopped_) return fail(Errc::kShutdown);
    if (const Status waited = turns.next(lock); !waited && call->reply == nullptr) {
      call->abandoned = true;
      return waited;
    }
  }
  return {};
}

void CallsInFlight::again(Call& call) {
  const std::lock_guard lock(mutex_);
  call.reply = nullptr;
}

void CallsInFlight::give_up(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  call->reply = nullptr;
  call->abandoned = true;
}

void CallsInFlight::end(const std::shared_ptr<Call>& call, bool unused) {
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[call->slot];
    if (slot.call == call) slot.call = nullptr;
    if (unused) --slot.sequence;
  }
  changed_.notify_all();
}

std::shared_ptr<const Bytes> CallsInFlight::asked(U32 number, U32 sequence) const {
  const std::lock_guard lock(mutex_);
  if (number >= slots_.size()) return nullptr;
  const auto& call = slots_[number].call;
  return call != nullptr && call->sequence == sequence && call->reply == nullptr ? call->frame : nullptr;
}

bool CallsInFlight::answered(U32 number, U32 sequence, std::shared_ptr<const Bytes> reply) {
  bool awaited = true;
  {
    const std::lock_guard lock(mutex_);
    if (number >= slots_.size()) return true;
    Slot& slot = slots_[number];
    if (slot.call == nullptr || slot.call->sequence != sequence || slot.call->reply != nullptr) return true;
    awaited = !slot.call->abandoned;
    if (awaited) {
      slot.call->reply = std::move(reply);
    } else {
      MessageView view;
      (void)cut_message(*reply, view);
      const WireStatus status{view.header.status};
      // It runs yet: the slot is not free before its reply.
      if (status == WireStatus::in_progress) return false;
      const bool counted =
          status != WireStatus::busy && status != WireStatus::bad_checksum && status != WireStatus::malformed;
      if (!counted) --slot.sequence;
      slot.call = nullptr;
    }
  }
  changed_.notify_all();
  return awaited;
}

std::vector<std::shared_ptr<const Bytes>> CallsInFlight::unanswered(const std::function<bool(U32)>& ours) const {
  std::vector<std::shared_ptr<const Bytes>> frames;
  const std::lock_guard lock(mutex_);
  for (U32 i = 0; i < slots_.size(); ++i) {
    const auto& call = slots_[i].call;
    if (call != nullptr && call->reply == nullptr && ours(i)) frames.push_back(call->frame);
  }
  return frames;
}

void CallsInFlight::readdress_all(U64 session) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.call == nullptr) continue;
    Bytes frame = *slot.call->frame;
    readdress(frame, session);
    slot.call->frame = std::make_shared<const Bytes>(std::move(frame));
  }
}

void CallsInFlight::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace stoa::native

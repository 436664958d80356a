#include "frontends/native/client/calls_in_flight.h"

#include <algorithm>

namespace stoa::native {

Result<std::shared_ptr<CallsInFlight::Call>> CallsInFlight::begin(
    const Deadline& deadline, const std::function<Bytes(U32 slot, U32 sequence)>& encode) {
  std::unique_lock lock(mutex_);
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
    if (!deadline.wait(changed_, lock)) return fail(Errc::kTimeout, "the server has not answered in time");
  }
}

Status CallsInFlight::wait(const std::shared_ptr<Call>& call, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  while (call->reply == nullptr) {
    if (stopped_) return fail(Errc::kShutdown);
    if (!deadline.wait(changed_, lock) && call->reply == nullptr) {
      call->abandoned = true;
      return fail(Errc::kTimeout, "the server has not answered in time");
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

void CallsInFlight::answered(U32 number, U32 sequence, std::shared_ptr<const Bytes> reply) {
  {
    const std::lock_guard lock(mutex_);
    if (number >= slots_.size()) return;
    Slot& slot = slots_[number];
    if (slot.call == nullptr || slot.call->sequence != sequence || slot.call->reply != nullptr) return;
    slot.call->reply = std::move(reply);
    if (slot.call->abandoned) slot.call = nullptr;
  }
  changed_.notify_all();
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

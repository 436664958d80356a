#include "frontends/native/server/slots.h"

namespace stoa::native {

Slots::~Slots() {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) drop_locked(slot);
}

void Slots::drop_locked(Slot& slot) {
  memory_.bytes.fetch_sub(slot.reply.size(), std::memory_order_relaxed);
  kept_bytes_ -= slot.reply.size();
  slot.reply = {};
  slot.kept = false;
}

Slots::Begun Slots::begin(U32 number, U32 sequence, U32 checksum, bool changes) {
  const auto refused = [](WireStatus status) { return Begun{Verdict::kRefused, status}; };
  const std::lock_guard lock(mutex_);
  if (number >= slots_.size()) return refused(WireStatus::bad_slot);
  Slot& slot = slots_[number];
  if (slot.used && sequence == slot.sequence) {
    if (checksum != slot.checksum) return refused(WireStatus::false_retry);
    if (slot.put_back) {
      slot.put_back = false;
      slot.busy = true;
      return {Verdict::kRun};
    }
    if (!slot.changes) return {Verdict::kRunAgain};
    if (slot.busy) return refused(WireStatus::in_progress);
    if (!slot.kept) return refused(WireStatus::not_cached);
    return {Verdict::kReplay, WireStatus::ok, slot.reply};
  }
  if (slot.used && sequence != slot.sequence + 1) return refused(WireStatus::bad_sequence);
  if (slot.busy) return refused(WireStatus::busy);  // the one before runs yet, sent twice; this one is not counted
  // Each session may keep a little, so that the replies of some sessions stop no other.
  const bool full = memory_.bytes.load(std::memory_order_relaxed) > kReplyMemoryMax;
  if (changes && full && kept_bytes_ - slot.reply.size() > kReplyMemoryOwn) return refused(WireStatus::busy);
  drop_locked(slot);
  slot.used = slot.busy = true;
  slot.put_back = false;
  slot.changes = changes;
  slot.sequence = sequence;
  slot.checksum = checksum;
  return {Verdict::kRun};
}

void Slots::put_back(U32 number) {
  const std::lock_guard lock(mutex_);
  slots_[number].busy = false;
  slots_[number].put_back = true;
}

void Slots::finish(U32 number, const Bytes* reply) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[number];
  slot.busy = false;
  if (reply == nullptr || !slot.changes) return;
  slot.reply = *reply;
  slot.kept = true;
  memory_.bytes.fetch_add(slot.reply.size(), std::memory_order_relaxed);
  kept_bytes_ += slot.reply.size();
}

}  // namespace stoa::native

#include "frontends/native/client/client_leases.h"

#include <algorithm>

namespace stoa::native {
namespace {

// What a newer server may say beyond it wants no less.
constexpr U32 kReasonMost = static_cast<U32>(core::RecallReason::kName);

}  // namespace

void ClientLeases::asked(const std::vector<U64>& numbers) {
  const std::lock_guard lock(events_mutex_);
  for (const U64 number : numbers) ++asked_[number];
}

void ClientLeases::answered(const std::vector<U64>& numbers) {
  const std::lock_guard lock(events_mutex_);
  for (const U64 number : numbers) {
    const auto found = asked_.find(number);
    if (found == asked_.end() || --found->second != 0) continue;
    asked_.erase(found);
    std::vector<RecallNotice> now;
    const auto of_it = [number](const RecallNotice& notice) { return notice.lease == number; };
    std::ranges::copy_if(early_, std::back_inserter(now), of_it);
    std::erase_if(early_, of_it);
    for (const RecallNotice& notice : now) {
      if (held(number)) tell_locked(notice);
    }
  }
}

void ClientLeases::granted(const LeaseArgs& wish, U64 file, U32 bits, std::span<const std::byte> call) {
  const std::lock_guard lock(mutex_);
  if (bits == 0) {
    held_.erase(wish.lease);
  } else {
    held_[wish.lease] = {wish.lease, file, bits, wish.kind, Bytes(call.begin(), call.end())};
  }
}

void ClientLeases::acknowledged(U64 number, U32 bits) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(number);
  if (found == held_.end()) return;
  found->second.bits &= bits;
  if (found->second.bits == 0) held_.erase(found);
}

void ClientLeases::recalled(const RecallNotice& notice) {
  const std::lock_guard lock(events_mutex_);
  if (held(notice.lease)) {
    tell_locked(notice);
  } else if (asked_.contains(notice.lease)) {
    // The newest takes the place of an older one: the server says the same again.
    std::erase_if(early_, [&](const RecallNotice& older) { return older.lease == notice.lease; });
    early_.push_back(notice);
  }
}

void ClientLeases::tell_locked(const RecallNotice& notice) {
  if (events_ == nullptr) return;
  events_->lease_recalled({.lease = notice.lease,
                           .file = notice.file,
                           .subject = notice.subject,
                           .keeps = notice.keeps,
                           .reason = static_cast<core::RecallReason>(std::min(notice.reason, kReasonMost))});
}

void ClientLeases::lose(U64 number) {
  const std::lock_guard lock(events_mutex_);
  {
    const std::lock_guard state(mutex_);
    if (held_.erase(number) == 0) return;
  }
  if (events_ != nullptr) events_->lease_lost(number);
}

bool ClientLeases::any() const {
  const std::lock_guard lock(mutex_);
  return !held_.empty();
}

bool ClientLeases::held(U64 number) const {
  const std::lock_guard lock(mutex_);
  return held_.contains(number);
}

std::vector<ClientLeases::Held> ClientLeases::all() const {
  std::vector<Held> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, held] : held_) all.push_back(held);
  return all;
}

}  // namespace stoa::native

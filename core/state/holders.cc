#include "core/state/holders.h"

#include "base/assert.h"

namespace stoa::core {

static_assert(std::size_t{1} << 16 == Holders::kHoldersMax);

Holders::~Holders() {
  for (const auto& chunk : chunks_) delete chunk.load();
}

HolderId Holders::add(HolderEvents* events, std::string_view peer, const LeaseTerms& terms) {
  const std::lock_guard lock(mutex_);
  std::size_t at = 0;
  if (!free_.empty()) {
    at = free_.back();
    free_.pop_back();
  } else if (used_ < kHoldersMax) {
    at = used_++;
    auto& chunk = chunks_[at / kSlotsAtOnce];
    if (chunk.load() == nullptr) chunk.store(new Chunk, std::memory_order_release);
  } else {
    return kNoHolder;
  }
  STOA_ASSERT(at < used_, "a free slot was used before");
  const HolderId id{++generation_ << kSlotBits | at};
  Slot& mine = slot(id);
  STOA_ASSERT(mine.id.load() == 0, "a slot has one holder at a time");
  STOA_ASSERT(mine.peer == nullptr, "a slot that is free counts for no peer");
  {
    const std::lock_guard calling(mine.calling);
    mine.events = events;
  }
  mine.held.store(0);
  mine.terms = terms;
  mine.own.opens = mine.own.locks = mine.own.leases = 0;
  const auto known = peers_.find(peer);
  if (known != peers_.end()) {
    mine.peer = known->second;
  } else {
    mine.peer = std::make_shared<Peer>(std::string(peer));
    if (!peer.empty()) peers_.emplace(mine.peer->name, mine.peer);
  }
  mine.id.store(static_cast<std::uint64_t>(id), std::memory_order_release);
  return id;
}

bool Holders::alive(HolderId holder) const {
  return holder != kNoHolder && known(holder) && slot(holder).id.load() == static_cast<std::uint64_t>(holder);
}

bool Holders::retire(HolderId holder) {
  if (holder == kNoHolder || !known(holder)) return false;
  auto id = static_cast<std::uint64_t>(holder);
  return slot(holder).id.compare_exchange_strong(id, 0);
}

void Holders::remove(HolderId holder) {
  const Slot& mine = slot(holder);
  STOA_ASSERT(mine.id.load() == 0, "a holder is retired before it is removed");
  STOA_ASSERT(mine.held.load() == 0, "all that a holder has is taken away before it goes");
  STOA_ASSERT(mine.own.opens.load() == 0, "no open is counted for a holder that goes");
  STOA_ASSERT(mine.own.locks.load() == 0, "no lock is counted for a holder that goes");
  STOA_ASSERT(mine.own.leases.load() == 0, "no lease is counted for a holder that goes");
  {
    const std::lock_guard calling(slot(holder).calling);
    slot(holder).events = nullptr;
  }
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Peer> peer = std::exchange(slot(holder).peer, nullptr);
  STOA_ASSERT(peer != nullptr, "a holder goes once");
  constexpr long kOursAndTheTable = 2;
  if (peer.use_count() == kOursAndTheTable) peers_.erase(peer->name);
  free_.push_back(static_cast<std::uint64_t>(holder) % kHoldersMax);
  STOA_ASSERT(free_.size() <= used_, "no slot is free twice");
}

std::int64_t Holders::held(HolderId holder) const {
  return alive(holder) ? slot(holder).held.load() : 0;
}

void Holders::mute(const HolderEvents& events) {
  for (const auto& entry : chunks_) {
    Chunk* const chunk = entry.load(std::memory_order_acquire);
    if (chunk == nullptr) break;  // they are made in order
    for (Slot& one : *chunk) {
      const std::lock_guard calling(one.calling);
      if (one.events == &events) one.events = nullptr;
    }
  }
}

std::size_t Holders::size() const {
  const std::lock_guard lock(mutex_);
  return used_ - free_.size();
}

}  // namespace stoa::core

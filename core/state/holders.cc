#include "core/state/holders.h"

namespace stoa::core {

static_assert(std::size_t{1} << 16 == Holders::kHoldersMax);

Holders::~Holders() {
  for (const auto& chunk : chunks_) delete chunk.load();
}

HolderId Holders::add(Recall recall, std::string_view peer, Granted granted, const LeaseTerms& terms) {
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
  const HolderId id{++generation_ << kSlotBits | at};
  Slot& mine = slot(id);
  {
    const std::lock_guard calling(mine.calling);
    mine.recall = std::move(recall);
    mine.granted = std::move(granted);
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
  Recall recall;
  Granted granted;
  {
    const std::lock_guard calling(slot(holder).calling);
    recall = std::exchange(slot(holder).recall, nullptr);
    granted = std::exchange(slot(holder).granted, nullptr);
  }
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Peer> peer = std::exchange(slot(holder).peer, nullptr);
  constexpr long kOursAndTheTable = 2;
  if (peer.use_count() == kOursAndTheTable) peers_.erase(peer->name);
  free_.push_back(static_cast<std::uint64_t>(holder) % kHoldersMax);
}

std::int64_t Holders::held(HolderId holder) const {
  return alive(holder) ? slot(holder).held.load() : 0;
}

void Holders::recall(HolderId holder, LeaseId lease, FileId file) {
  if (!alive(holder)) return;
  Slot& mine = slot(holder);
  const std::lock_guard calling(mine.calling);
  if (alive(holder) && mine.recall) mine.recall(lease, file);
}

void Holders::tell_granted(const LockRequest& lock) {
  const HolderId holder = lock.owner.holder;
  if (!alive(holder)) return;
  Slot& mine = slot(holder);
  const std::lock_guard calling(mine.calling);
  if (alive(holder) && mine.granted) mine.granted(lock);
}

void Holders::call(HolderId holder, const std::function<void()>& what) {
  if (!alive(holder)) return;
  const std::lock_guard calling(slot(holder).calling);
  if (alive(holder)) what();
}

std::size_t Holders::size() const {
  const std::lock_guard lock(mutex_);
  return used_ - free_.size();
}

}  // namespace stoa::core

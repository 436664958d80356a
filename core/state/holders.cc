#include "core/state/holders.h"

namespace stoa::core {

static_assert(std::size_t{1} << 16 == Holders::kHoldersMax);

Holders::~Holders() {
  for (const auto& chunk : chunks_) delete chunk.load();
}

HolderId Holders::add(Recall recall) {
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
  }
  mine.held.store(0);
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
  Recall gone;
  {
    const std::lock_guard calling(slot(holder).calling);
    gone = std::exchange(slot(holder).recall, nullptr);
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(static_cast<std::uint64_t>(holder) % kHoldersMax);
}

std::int64_t Holders::held(HolderId holder) const { return alive(holder) ? slot(holder).held.load() : 0; }

void Holders::recall(HolderId holder, LeaseId lease, FileId file) {
  if (!alive(holder)) return;
  Slot& mine = slot(holder);
  const std::lock_guard calling(mine.calling);
  if (alive(holder) && mine.recall) mine.recall(lease, file);
}

std::size_t Holders::size() const {
  const std::lock_guard lock(mutex_);
  return used_ - free_.size();
}

}  // namespace stoa::core

#include "frontends/native/data/block_budget.h"

#include <utility>

namespace stoa::native::data {

template <class Goes>
bool BlockBudget::drop_oldest(const Goes& goes) {
  std::shared_ptr<BufferedFile> file;
  std::shared_ptr<Block> block;
  {
    const std::lock_guard lock(mutex_);
    while (!oldest_.empty() && (oldest_.front().block.expired() || oldest_.front().file.expired())) oldest_.pop_front();
    if (oldest_.empty() || !goes(oldest_.front())) return false;
    file = oldest_.front().file.lock();
    block = oldest_.front().block.lock();
    oldest_.pop_front();
  }
  if (file == nullptr || block == nullptr) return true;
  const std::lock_guard lock(file->mutex);
  file->blocks.remove(block);
  return true;
}

bool BlockBudget::make_room(std::uint64_t bytes, std::uint64_t most) {
  const auto now = Clock::now();
  while (bytes_ + bytes > most) {
    const bool dropped = drop_oldest([&](const Arrived& oldest) {
      const auto block = oldest.block.lock();
      return block == nullptr || block->used_up || now - oldest.at > kWanted;
    });
    if (!dropped) return false;
  }
  return true;
}

void BlockBudget::arrived(const std::shared_ptr<BufferedFile>& file, const std::shared_ptr<Block>& block) {
  {
    const std::lock_guard lock(mutex_);
    oldest_.push_back({file, block, Clock::now()});
  }
  while (drop_oldest([&](const Arrived&) { return bytes_ > bytes_most_ || oldest_.size() >= kBlocksMost; })) {
  }
}

}  // namespace stoa::native::data

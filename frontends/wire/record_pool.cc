#include "frontends/wire/record_pool.h"

#include <cstdlib>

namespace stoa::wire {

core::LentMemory RecordMemory::lend(std::span<const std::byte> part) {
  const bool here = data_ != nullptr && part.data() >= data_ && part.data() + part.size() <= data_ + size();
  if (!here || part.size() < size() / 2) return {};
  if (lent_ == nullptr) {
    lent_ = {data_, [idle = pool_->idle_, size_class = size_class_](std::byte* data) { idle->give(data, size_class); }};
  }
  return {lent_, size()};
}

RecordMemory RecordPool::take(std::size_t bytes, const std::shared_ptr<AddressBudget>& budget) {
  std::size_t size_class = 0;
  while (size_class < kPayloads.size() && kPayloads[size_class] + kPage < bytes) ++size_class;
  if (size_class == kPayloads.size()) return {};
  const std::size_t memory = memory_of(size_class);
  const auto refuse = [&]() -> RecordMemory {
    for (auto* const count : {&in_use_, &budget->record_bytes, &half_sent_in_use_, &budget->half_sent_bytes})
      count->fetch_sub(memory, std::memory_order_relaxed);
    return {};
  };
  const auto exceeds = [&](std::atomic<std::uint64_t>& count, std::uint64_t limit) {
    return count.fetch_add(memory, std::memory_order_relaxed) + memory > limit;
  };
  // Each is counted, regardless of the others.
  const bool all = exceeds(in_use_, records_.all), share = exceeds(budget->record_bytes, records_.of_address);
  const bool half = exceeds(half_sent_in_use_, half_sent_.all),
             half_share = exceeds(budget->half_sent_bytes, half_sent_.of_address);
  if (all || share || half || half_share) return refuse();
  std::byte* data = idle_->take(size_class);
  if (data == nullptr) data = static_cast<std::byte*>(std::aligned_alloc(kPage, memory));
  if (data == nullptr) return refuse();
  return RecordMemory(this, data, size_class, budget);
}

std::byte* RecordPool::Idle::take(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  if (kept_[size_class].empty()) return nullptr;
  std::byte* const data = kept_[size_class].back();
  kept_[size_class].pop_back();
  kept_bytes_ -= memory_of(size_class);
  return data;
}

void RecordPool::Idle::give(std::byte* data, std::size_t size_class) {
  {
    const std::lock_guard lock(mutex_);
    if (kept_bytes_ + memory_of(size_class) <= kept_max_) {
      kept_bytes_ += memory_of(size_class);
      kept_[size_class].push_back(data);
      return;
    }
  }
  std::free(data);
}

void RecordPool::Idle::trim() {
  std::array<std::vector<std::byte*>, kPayloads.size()> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(kept_);
    kept_bytes_ = 0;
  }
  for (const auto& list : idle) {
    for (std::byte* data : list) std::free(data);
  }
}

}  // namespace stoa::wire

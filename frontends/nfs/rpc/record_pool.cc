#include "frontends/nfs/rpc/record_pool.h"

#include <cstdlib>

namespace stoa::rpc {

RecordPool::~RecordPool() {
  trim();
}

RecordMemory RecordPool::take(std::size_t bytes, const std::shared_ptr<AddressBudget>& budget) {
  std::size_t size_class = 0;
  while (size_class < kPayloads.size() && kPayloads[size_class] + kPage < bytes) ++size_class;
  if (size_class == kPayloads.size()) return {};
  const std::size_t memory = memory_of(size_class);
  const auto refuse = [&]() -> RecordMemory {
    in_use_.fetch_sub(memory, std::memory_order_relaxed);
    budget->record_bytes.fetch_sub(memory, std::memory_order_relaxed);
    return {};
  };
  const std::uint64_t all = in_use_.fetch_add(memory, std::memory_order_relaxed) + memory;
  const std::uint64_t share = budget->record_bytes.fetch_add(memory, std::memory_order_relaxed) + memory;
  if (all > bytes_max_ || share > share_max_) return refuse();
  {
    const std::lock_guard lock(mutex_);
    if (!kept_[size_class].empty()) {
      std::byte* data = kept_[size_class].back();
      kept_[size_class].pop_back();
      kept_bytes_ -= memory;
      return RecordMemory(this, data, size_class, budget);
    }
  }
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kPage, memory));
  if (data == nullptr) return refuse();
  return RecordMemory(this, data, size_class, budget);
}

void RecordPool::give_back(std::byte* data, std::size_t size_class) {
  const std::size_t memory = memory_of(size_class);
  in_use_.fetch_sub(memory, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (kept_bytes_ + memory <= kept_max_) {
      kept_bytes_ += memory;
      kept_[size_class].push_back(data);
      return;
    }
  }
  std::free(data);
}

void RecordPool::trim() {
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

}  // namespace stoa::rpc

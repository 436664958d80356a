#include "backends/blob/local/buffer_pool.h"

#include <new>

namespace stoa::blob_local {
namespace {
constexpr std::align_val_t kAlignment{kDirectAlignment};
}

BufferPool::~BufferPool() {
  for (std::byte* memory : free_) ::operator delete(memory, kAlignment);
}

std::byte* BufferPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::byte* const memory = free_.back();
      free_.pop_back();
      kept_.add(-1);
      return memory;
    }
  }
  return static_cast<std::byte*>(::operator new(kPooledBufferBytes, kAlignment));
}

void BufferPool::give(std::byte* memory) {
  {
    const std::lock_guard lock(mutex_);
    if (free_.size() < kPooledBuffersMax) {
      free_.push_back(memory);
      kept_.add(1);
      return;
    }
  }
  ::operator delete(memory, kAlignment);
}

}  // namespace stoa::blob_local

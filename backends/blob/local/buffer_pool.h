// Aligned buffers for O_DIRECT, used again and again: the first touch of fresh memory costs 0.5 s a GB.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "base/metrics.h"

namespace stoa::blob_local {

inline constexpr std::size_t kDirectAlignment = 4096;
inline constexpr std::size_t kPooledBufferBytes = 1u << 20;
inline constexpr std::size_t kPooledBuffersMax = 32;  // kept for reuse; more may exist for a moment

class BufferPool {
 public:
  explicit BufferPool(Gauge& kept) : kept_(kept) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  class Lease {
   public:
    explicit Lease(BufferPool& pool) : pool_(pool), memory_(pool.take()) {}
    ~Lease() { pool_.give(memory_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* data() { return memory_; }

   private:
    BufferPool& pool_;
    std::byte* memory_;
  };

 private:
  std::byte* take();
  void give(std::byte* memory);

  Gauge& kept_;
  std::mutex mutex_;  // guards free_
  std::vector<std::byte*> free_;
};

}  // namespace stoa::blob_local

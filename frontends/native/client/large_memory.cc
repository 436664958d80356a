#include "frontends/native/client/large_memory.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <ctime>

#include "frontends/native/protocol/message.h"

namespace stoa::native {
namespace {

// Of what is kept: a message with all that lies before it. Pages that nobody has touched cost nothing.
constexpr std::size_t kBytes = kMessageBytesMax + (std::size_t{48} << 10);
constexpr std::int64_t kRestSeconds = 3;

std::array<std::atomic<void*>, LargeMemory::kKept> kept{};
std::atomic<std::int64_t> last_taken{0};

std::int64_t now_seconds() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // it cannot fail with this clock
  return now.tv_sec;
}

std::size_t mapped_for(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return bytes <= kBytes ? kBytes : (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

void* LargeMemory::take(std::size_t bytes) {
  if (bytes < kFrom) return ::operator new(bytes);
  if (bytes <= kBytes) {
    last_taken.store(now_seconds(), std::memory_order_relaxed);
    for (std::atomic<void*>& place : kept) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (void* const memory = place.exchange(nullptr, std::memory_order_acquire)) return memory;
    }
  }
  void* const memory = ::mmap(nullptr, mapped_for(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void LargeMemory::give(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (bytes < kFrom) return ::operator delete(memory);
  if (bytes <= kBytes) {
    for (std::atomic<void*>& place : kept) {
      void* none = nullptr;
      if (place.compare_exchange_strong(none, memory, std::memory_order_release, std::memory_order_relaxed)) return;
    }
  }
  (void)::munmap(memory, mapped_for(bytes));
}

void LargeMemory::rest() noexcept {
  if (now_seconds() - last_taken.load(std::memory_order_relaxed) < kRestSeconds) return;
  for (std::atomic<void*>& place : kept) {
    if (void* const memory = place.exchange(nullptr, std::memory_order_acquire)) (void)::munmap(memory, kBytes);
  }
}

}  // namespace stoa::native

// Memory for what is about as large as a message, not from the allocator of the process: libstoa lives in programs of
// others, whose allocator would keep what was used once. A fresh mebibyte costs 256 page faults, so some are kept as
// long as there is work.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace stoa::native {

// Thread-safe, without a lock: a child of fork(2) may use it at any time.
class LargeMemory {
 public:
  static constexpr std::size_t kFrom = std::size_t{128} << 10;  // smaller ones are the allocator's
  static constexpr std::size_t kKept = 48;  // at most, of a message's size: what is buffered unsent, and more

  // Throws std::bad_alloc. `bytes`: the same in both calls.
  static void* take(std::size_t bytes);
  static void give(void* memory, std::size_t bytes) noexcept;
  // Called now and then: gives the system what is kept, if nothing was taken for some seconds.
  static void rest() noexcept;
};

template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as allocators are
  T* allocate(std::size_t count) { return static_cast<T*>(LargeMemory::take(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { LargeMemory::give(memory, count * sizeof(T)); }
  // A new element has anything in it: it is written at once.
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  bool operator==(const LargeAllocator&) const = default;
};

// Content on its way.
using Content = std::vector<std::byte, LargeAllocator<std::byte>>;

// An array with anything in it.
struct LargeFree {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const noexcept { LargeMemory::give(memory, bytes); }
};
using LargeArray = std::unique_ptr<std::byte[], LargeFree>;
inline LargeArray make_large_array(std::size_t bytes) {
  return LargeArray(static_cast<std::byte*>(LargeMemory::take(bytes)), LargeFree{bytes});
}

}  // namespace stoa::native

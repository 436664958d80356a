// The memory of ring entries, which another process can map at the same addresses: the kernel writes a request where
// its entry was registered, whichever process takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "frontends/native/fuse/kernel_abi.h"
#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::fuse {

// Slots of the same size in a file in memory. What is not touched takes no memory.
class RingMemory {
 public:
  static constexpr std::size_t kHeadBytes = 4096;  // the head of the entry and what the kernel does not see
  static constexpr std::size_t kSlotBytes = kHeadBytes + kRequestHeadBytes + kIoBytes;
  static constexpr std::uint32_t kSlotsMost = 1 << 24;  // 256 for each of 65536 processors

  // Errors: the system gives no memory.
  static Result<std::unique_ptr<RingMemory>> make(std::uint32_t slots);
  // Of another process, at its address. kBusy: something else of this process lies there. kInvalid: the file has fewer
  // slots, or the address is none.
  static Result<std::unique_ptr<RingMemory>> take_over(OwnedFd fd, std::uint64_t address, std::uint32_t slots);
  ~RingMemory();
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;

  int fd() const { return fd_.get(); }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(at_); }
  std::uint32_t slots() const { return slots_; }
  std::byte* slot(std::uint32_t number) const { return at_ + number * kSlotBytes; }

 private:
  RingMemory(OwnedFd fd, std::byte* at, std::uint32_t slots) : fd_(std::move(fd)), at_(at), slots_(slots) {}

  const OwnedFd fd_;
  std::byte* const at_;
  const std::uint32_t slots_;
};

}  // namespace stoa::native::fuse

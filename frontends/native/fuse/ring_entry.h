// One entry of a queue of FUSE over io_uring: the memory that a request comes in and its reply leaves from.
#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <span>
#include <string_view>

#include "base/error.h"
#include "frontends/native/fuse/kernel_abi.h"
#include "frontends/native/fuse/ring_abi.h"
#include "frontends/native/fuse/ring_memory.h"

namespace stoa::native::fuse {

// What is done with an entry, as the thread tells that has it.
enum class RingUse : std::uint8_t {
  kIdle,   // the kernel has it, or is just giving a request to the thread
  kRuns,   // its request is worked on
  kWaits,  // its request waits for a lock
  kHeld,   // its request has come while the queues are paused
  kFills,  // so, and it is one of a RingFill
};

class RingEntry {
 public:
  // `memory` outlives it.
  RingEntry(std::uint16_t queue, const RingMemory& memory, std::uint32_t slot, RingUse use = RingUse::kIdle);
  RingEntry(const RingEntry&) = delete;
  RingEntry& operator=(const RingEntry&) = delete;

  // What the kernel put here, in one piece as /dev/fuse would give it: short ones are copied together in front of the
  // payload, a large payload stays where it is. Empty: lengths contradict each other.
  std::span<const std::byte> request();
  std::uint64_t unique() const { return header().unique; }
  // Whether the request is for the extended attribute of this name.
  bool asks_for_attribute(std::string_view name) const;
  // For a large reply; what is written here is not copied any more.
  std::span<std::byte> payload() { return {at_ + kPayloadAt, kIoBytes}; }
  // Puts the reply together. `body` may lie in payload().
  void put_reply(int error, std::span<const std::byte> body);

  // Gives back the memory of a large payload, where that of the next request is not there yet.
  void give_back();
  bool is_large() const { return touched_ > kKeptBytes; }

  std::uint16_t queue() const { return queue_; }
  const RingMemory& memory() const { return memory_; }
  std::uint32_t slot() const { return slot_; }
  std::uint64_t commit_id() const { return head()->commit_id; }
  std::span<const iovec> buffers() const { return buffers_; }

  RingUse use() const { return use_.load(); }
  void set_use(RingUse use) { use_.store(use); }

 private:
  static constexpr std::size_t kRequestAt = RingMemory::kHeadBytes;  // the head of the entry lies before it
  static constexpr std::size_t kPayloadAt = kRequestAt + kRequestHeadBytes;
  static_assert(kPayloadAt + kIoBytes == RingMemory::kSlotBytes);

  static constexpr std::size_t kKeptBytes = 64 << 10;

  RingEntryHead* head() const { return reinterpret_cast<RingEntryHead*>(at_); }
  fuse_in_header header() const;

  const std::uint16_t queue_;
  const std::uint32_t slot_;
  const RingMemory& memory_;
  std::byte* const at_;
  const std::array<iovec, 2> buffers_;
  std::size_t touched_ = 0;  // of the payload
  std::atomic<RingUse> use_;
};

}  // namespace stoa::native::fuse

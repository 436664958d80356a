// One entry of a queue of FUSE over io_uring: the memory that a request comes in and its reply leaves from.
#pragma once

#include <sys/uio.h>

#include <array>
#include <memory>
#include <span>

#include "base/error.h"
#include "frontends/native/fuse/kernel_abi.h"
#include "frontends/native/fuse/ring_abi.h"

namespace stoa::native::fuse {

class RingEntry {
 public:
  static Result<std::unique_ptr<RingEntry>> make(std::uint16_t queue);
  ~RingEntry();
  RingEntry(const RingEntry&) = delete;
  RingEntry& operator=(const RingEntry&) = delete;

  // What the kernel put here, in one piece as /dev/fuse would give it: short ones are copied together in front of the
  // payload, a large payload stays where it is. Empty: lengths contradict each other.
  std::span<const std::byte> request();
  std::uint64_t unique() const { return header().unique; }
  // For a large reply; what is written here is not copied any more.
  std::span<std::byte> payload() { return {memory_ + kPayloadAt, kIoBytes}; }
  // Puts the reply together. `body` may lie in payload().
  void put_reply(int error, std::span<const std::byte> body);

  // Gives back the memory of a large payload, where that of the next request is not there yet.
  void give_back();
  bool is_large() const { return touched_ > kKeptBytes; }

  std::uint16_t queue() const { return queue_; }
  std::uint64_t commit_id() const { return head()->commit_id; }
  std::span<const iovec> buffers() const { return buffers_; }

 private:
  static constexpr std::size_t kRequestAt = 4096;  // the head of the entry lies before it
  static constexpr std::size_t kPayloadAt = kRequestAt + kRequestHeadBytes;
  static constexpr std::size_t kBytes = kPayloadAt + kIoBytes;

  static constexpr std::size_t kKeptBytes = 64 << 10;

  RingEntry(std::uint16_t queue, std::byte* memory);
  RingEntryHead* head() const { return reinterpret_cast<RingEntryHead*>(memory_); }
  fuse_in_header header() const;

  const std::uint16_t queue_;
  std::byte* const memory_;
  const std::array<iovec, 2> buffers_;
  std::size_t touched_ = 0;  // of the payload
};

}  // namespace stoa::native::fuse

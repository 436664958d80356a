// An io_uring for commands to a device, with submissions of 128 bytes, for one thread.
#pragma once

#include <linux/io_uring.h>
#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "frontends/native/fuse/owned_fd.h"
#include "frontends/native/fuse/ring_entry.h"

namespace stoa::native::fuse {

// Whether a command ended with this result as the mount was unmounted or aborted.
bool is_end_of_connection(std::int32_t result);

class CommandRing {
 public:
  // For up to `commands` at a time. Errors: the system gives no io_uring, or no memory for it.
  static Result<std::unique_ptr<CommandRing>> open(std::uint32_t commands);
  ~CommandRing();
  CommandRing(const CommandRing&) = delete;
  CommandRing& operator=(const CommandRing&) = delete;

  // The calling thread is the one that uses the ring from here on, and only it may.
  Status enable();
  // Queue a command to `fuse`, whose completion has this tag. No more at a time than open() was told. `entry` stays.
  // In `queue`, which is that of the entry but for a refusal.
  void push_register(int fuse, const RingEntry& entry, std::uint16_t queue, std::uint64_t tag);
  void push_commit(int fuse, std::uint64_t commit_id, std::uint16_t queue, std::uint64_t tag);
  // A completion when there is something to read from `fd`, once.
  void push_poll(int fd, std::uint64_t tag);
  // Submits what is queued.
  Status submit();
  struct Completion {
    std::uint64_t tag = 0;
    std::int32_t result = 0;  // 0 or a negative errno
  };
  // Submits what is queued and blocks for one completion: one call of the system for both.
  Result<Completion> submit_and_wait();
  // The same for so long; nothing: none has come.
  Result<std::optional<Completion>> submit_and_wait_for(std::chrono::milliseconds patience);

 private:
  class Mapping {
   public:
    Mapping(int fd, std::size_t bytes, std::uint64_t offset);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    explicit operator bool() const { return at_ != nullptr; }
    template <class T>
    T* at(std::size_t offset) const {
      return reinterpret_cast<T*>(at_ + offset);
    }

   private:
    std::byte* at_ = nullptr;
    const std::size_t bytes_;
  };

  CommandRing(OwnedFd fd, const io_uring_params& params);
  io_uring_sqe& next_submission(std::uint64_t tag);
  void push(int fuse, RingCommand command, const RingCommandArguments& arguments, std::span<const iovec> buffers,
            std::uint64_t tag);
  bool has_completion() const;
  Completion take();
  // Submits; waits for `completions` of them, not beyond `patience` (null: for ever). False: it was beyond.
  Result<bool> enter(unsigned completions, const __kernel_timespec* patience);
  bool mapped() const { return rings_ && submissions_; }

  const OwnedFd fd_;
  const io_uring_params params_;
  const Mapping rings_, submissions_;
  std::uint32_t queued_ = 0;
};

}  // namespace stoa::native::fuse

// The way of replies back to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa::native::fuse {

class ReplyChannel {
 public:
  virtual ~ReplyChannel() = default;
  // Answers one request, once: `error` is a positive errno or 0. Thread-safe; blocks for nothing but the copy. A
  // request that the kernel no longer knows is no error.
  virtual void reply(std::uint64_t unique, int error, std::span<const std::byte> body) = 0;
  // Whether the request that is being answered may have its reply after Dispatcher::handle() has returned.
  virtual bool may_reply_later() { return true; }
  // Returns when the kernel has the reply, where reply() alone leaves that to the next call of the system. On the
  // thread of the request, after reply().
  virtual void deliver() {}
};

}  // namespace stoa::native::fuse

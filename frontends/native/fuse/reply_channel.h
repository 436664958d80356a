// The way of replies back to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa::native::fuse {

class ReplyChannel {
 public:
  virtual ~ReplyChannel() = default;
  // Answers one request: `error` is a positive errno or 0. Thread-safe; blocks for nothing but the copy. A request that
  // the kernel no longer knows is no error.
  virtual void reply(std::uint64_t unique, int error, std::span<const std::byte> body) = 0;
};

}  // namespace stoa::native::fuse

// From the bytes of a request to its reply, whatever transport brought it.
#pragma once

#include <cstdint>
#include <span>

#include "frontends/native/fuse/exchange.h"
#include "frontends/native/fuse/in_flight.h"
#include "frontends/native/fuse/lock_waits.h"
#include "frontends/native/fuse/reply_channel.h"

namespace stoa::native::fuse {

// Thread-safe. Owned by the connection; `fs` outlives it.
class Dispatcher {
 public:
  Dispatcher(FileSystem& fs, const Negotiated& negotiated) : fs_(fs), negotiated_(negotiated), lock_waits_(fs) {}

  // Answers one request through `channel`: before it returns, or later when it waits for a lock. FORGET and INTERRUPT
  // have no reply. Blocks as the file system does. `space` takes large replies and may be a part of the buffer behind
  // the request (kRequestHeadBytes on): it is used only for requests that end before it.
  // False: the bytes are no request, and nothing was answered.
  bool handle(std::span<const std::byte> request, std::span<std::byte> space, ReplyChannel& channel);
  // The kernel's connection has ended: calls under way end soon.
  void unmount() { in_flight_.unmount(); }
  LockWaits& lock_waits() { return lock_waits_; }

 private:
  void answer(Request& request, std::span<std::byte> space, ReplyChannel& channel);
  void wait_for_lock(Exchange& exchange, ReplyChannel& channel);

  FileSystem& fs_;
  const Negotiated negotiated_;
  InFlight in_flight_;
  LockWaits lock_waits_;
};

}  // namespace stoa::native::fuse

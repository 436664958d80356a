// The requests that are being answered, by number, so that an INTERRUPT finds them.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "frontends/native/fuse/file_system.h"

namespace stoa::native::fuse {

// Thread-safe. No call blocks.
class InFlight {
 public:
  // `call` stays valid until end(). It is interrupted at once when its INTERRUPT came first: another thread may have
  // read that while this one had not begun yet.
  void begin(std::uint64_t unique, Call& call);
  void end(std::uint64_t unique);
  // Interrupts the call; one that is not known is remembered for begin(), if it is among the last few.
  void interrupt(std::uint64_t unique);

  // The kernel's connection has ended, for all calls under way and to come.
  void unmount();

 private:
  static constexpr std::size_t kEarlyMost = 64;

  std::mutex mutex_;  // guards all below
  std::unordered_map<std::uint64_t, Call*> calls_;
  std::array<std::uint64_t, kEarlyMost> early_{};  // numbers, oldest overwritten; 0: none
  std::size_t next_early_ = 0;
  bool any_early_ = false;
  bool unmounted_ = false;
};

}  // namespace stoa::native::fuse

// The talk between the process of a mount and the one that takes over, over the socket of the mount's monitor.
//
//   new  "replace VERSION"   of the layout that it knows (kHandedVersion)
//   old  "options ..."       those of the mount; nothing has stopped yet
//   new  "go"                it could read its key, and has all that can be known before
//   old  "state"             with descriptors: the layout's bytes, the monitor's listener, those of the FUSE connection
//   new  "serving"           it has logged in and has a thread that waits for the word; from here on it serves
//
// Instead of its word either side may end the connection; the old process says "no SENTENCE" before. Whatever happens
// before "serving" is sent, the old process goes on.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontends/native/fuse/owned_fd.h"
#include "frontends/native/mount/handed_mount.h"

namespace stoa::native::mount {

// How long either side waits for one word of the other.
inline constexpr std::chrono::seconds kWordPatience{30};

// What the old process does, in this order; all from one thread.
class Handing {
 public:
  virtual ~Handing() = default;
  // Whether it can be done at all. Stops nothing.
  virtual Status may_hand_over() = 0;
  virtual MountOptions options() = 0;
  struct Handed {
    HandedMount mount;
    std::vector<int> descriptors;  // of FUSE; they stay the owner's
  };
  // Writes all back and stops. On an error all goes on.
  virtual Result<Handed> stop() = 0;
  // The other has not begun: all goes on.
  virtual void go_on() = 0;
  // The other serves.
  virtual void left() = 0;
};

// The old process: answers "replace ..." on `socket`. `listener`: of the monitor. True: the other process serves.
bool hand_over(const std::string& wish, fuse::OwnedFd socket, int listener, Handing& handing);

// The new process, step by step; the destructor ends the talk. `socket`: connected to the monitor.
class TakeOver {
 public:
  explicit TakeOver(fuse::OwnedFd socket) : socket_(std::move(socket)) {}
  // kNotSupported, with a sentence: the other process does not let itself be replaced.
  Result<MountOptions> ask();
  struct Taken {
    HandedMount mount;
    fuse::OwnedFd listener;
    std::vector<fuse::OwnedFd> descriptors;
  };
  Result<Taken> take();
  // kShutdown: the other process serves on, and this one must not.
  Status serve();

 private:
  fuse::OwnedFd socket_;
};

}  // namespace stoa::native::mount

// Requests of this process to its own mount, which make idle entries of queues busy.
//
// The kernel lets nobody take an idle entry back, and what it gives to one whose process ends is lost. An entry with a
// request is safe: whoever answers it, from whatever io_uring, has the entry from then on. So before another process
// takes the queues over, each idle entry gets one of these requests. They are for an extended attribute of the mount's
// root that nobody else can name: the kernel keeps no attributes, takes no lock for them, and tells their name.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::fuse {

// For one thread.
class RingFill {
 public:
  // The name of an attribute that no program can know. Errors: of getrandom(2).
  static Result<std::string> new_name();
  // `directory`: where the file system is mounted, which is busy as long as this lives. Errors: it cannot be opened.
  static Result<std::unique_ptr<RingFill>> open(const std::string& directory, std::string name);
  // Blocks until all of them have been answered, or the connection has ended.
  ~RingFill();
  RingFill(const RingFill&) = delete;
  RingFill& operator=(const RingFill&) = delete;

  // Sends one more to the queue of this processor. It blocks a thread until it is answered. kBusy: the system starts no
  // more threads. kNotSupported: this process may not run on that processor.
  Status add(std::uint16_t processor);
  // Whether one was answered. If nobody has, the directory is that of something else.
  bool any_ended() const { return ended_.load(); }

 private:
  RingFill(OwnedFd root, std::string name);
  static void* run(void* self);

  const OwnedFd root_;
  const std::string path_, name_;
  std::atomic<bool> ended_{false};
  std::vector<pthread_t> threads_;
};

}  // namespace stoa::native::fuse

// Whether new mounts may speak FUSE over io_uring.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::fuse {

// The module's parameter while a mount begins, restored afterwards. Others who set it wait.
class UringParameter {
 public:
  explicit UringParameter(bool on) : fd_(::open("/sys/module/fuse/parameters/enable_uring", O_RDWR | O_CLOEXEC)) {
    if (!fd_ || ::flock(fd_.get(), LOCK_EX) != 0 || ::pread(fd_.get(), &before_, 1, 0) != 1) return;
    set_ = put(on ? 'Y' : 'N');
  }
  ~UringParameter() {
    if (set_) (void)put(before_);
  }
  UringParameter(const UringParameter&) = delete;
  UringParameter& operator=(const UringParameter&) = delete;
  bool is_set() const { return set_; }

 private:
  bool put(char value) const { return ::pwrite(fd_.get(), &value, 1, 0) == 1; }
  const OwnedFd fd_;
  char before_ = 'N';
  bool set_ = false;
};

}  // namespace stoa::native::fuse

// At most one process works in a data folder.
#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::appliance {

// Held as long as the object lives, or the process: the kernel drops it after kill -9, so it is never stale.
class FolderLock {
 public:
  // kBusy: another process has it; the detail names it.
  static Result<FolderLock> take(const DataFolder& folder);
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  // After a fork: the child writes its own process id.
  Status rewrite_pid() const;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

// The process that has the folder now; 0 when its id cannot be read; empty when it is free.
Result<std::optional<pid_t>> lock_holder(const DataFolder& folder);

}  // namespace stoa::appliance

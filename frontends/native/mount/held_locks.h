// Which owners hold byte-range locks through this mount, so that closing a file asks the server only where it must.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "core/api/ids.h"

namespace stoa::native::mount {

// Thread-safe. An owner stays until all its locks of a file were given up at once.
class HeldLocks {
 public:
  void add(core::FileId file, std::uint64_t owner, std::uint32_t pid) {
    const std::lock_guard lock(mutex_);
    owners_[{file, owner}] = pid;
  }
  // True: it was there.
  bool remove(core::FileId file, std::uint64_t owner) {
    const std::lock_guard lock(mutex_);
    return owners_.erase({file, owner}) != 0;
  }
  // 0: not known here.
  std::uint32_t pid_of(core::FileId file, std::uint64_t owner) const {
    const std::lock_guard lock(mutex_);
    const auto found = owners_.find({file, owner});
    return found == owners_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;  // guards owners_
  std::map<std::pair<core::FileId, std::uint64_t>, std::uint32_t> owners_;
};

}  // namespace stoa::native::mount

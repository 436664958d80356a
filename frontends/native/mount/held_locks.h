// Which owners hold byte-range locks through this mount, so that closing a file asks the server only where it must.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/api/ids.h"

namespace stoa::native::mount {

// Thread-safe. An owner stays until all its locks of a file were given up at once.
class HeldLocks {
 public:
  // `handle`: of the open file through which the lock was asked for.
  void add(core::FileId file, std::uint64_t owner, std::uint32_t pid, std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    owners_[{file, owner}] = {pid, handle};
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
    return found == owners_.end() ? 0 : found->second.pid;
  }
  // Those whose newest lock was asked for through this open file.
  std::vector<std::uint64_t> owners_through(core::FileId file, std::uint64_t handle) const {
    std::vector<std::uint64_t> found;
    const std::lock_guard lock(mutex_);
    for (auto at = owners_.lower_bound({file, 0}); at != owners_.end() && at->first.first == file; ++at) {
      if (at->second.handle == handle) found.push_back(at->first.second);
    }
    return found;
  }

  // All of them; for another process.
  struct Kept {
    core::FileId file = core::kNoFile;
    std::uint64_t owner = 0, handle = 0;
    std::uint32_t pid = 0;
  };
  std::vector<Kept> all() const {
    std::vector<Kept> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [of, taken] : owners_) all.push_back({of.first, of.second, taken.handle, taken.pid});
    return all;
  }

 private:
  struct Taken {
    std::uint32_t pid = 0;
    std::uint64_t handle = 0;
  };
  mutable std::mutex mutex_;  // guards owners_
  std::map<std::pair<core::FileId, std::uint64_t>, Taken> owners_;
};

}  // namespace stoa::native::mount

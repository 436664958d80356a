// The files that were written through a mount and not synced since.
#pragma once

#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/api/credentials.h"
#include "core/api/ids.h"

namespace stoa::native::mount {

// Thread-safe. Bounded: a file that finds no place here is synced at once.
class UncommittedFiles {
 public:
  static constexpr std::size_t kFilesMost = 65536;
  using Files = std::unordered_map<core::FileId, core::Credentials>;

  // False: there are too many. `cred`: who may sync it.
  bool add(core::FileId file, const core::Credentials& cred) {
    const std::lock_guard lock(mutex_);
    if (files_.contains(file)) return true;
    if (files_.size() >= kFilesMost) return false;
    files_.emplace(file, cred);
    return true;
  }
  void remove(core::FileId file) {
    const std::lock_guard lock(mutex_);
    files_.erase(file);
  }
  Files take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(files_, {});
  }

 private:
  std::mutex mutex_;  // guards files_
  Files files_;
};

}  // namespace stoa::native::mount

// What the recycle bins keep in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/api/ids.h"

namespace stoa::core {

class Registry;

struct RecycleState {
  // Whose snapshots have the policies. Set while the volume opens, before anybody else uses it; until then nothing is
  // kept.
  const Registry* registry = nullptr;
  // Whether the volume has any bin. While it has none, nobody looks for one.
  std::atomic<bool> any{false};

  std::mutex mutex;  // guards what follows
  // Of each bin, up to which serial all is purged: a walk from the beginning would cross what purging left in the
  // store.
  std::unordered_map<FileId, std::uint64_t> purged_to;
  // Of a recycle root and a user, where his user's bin was when it was looked for last. While it is there it is his,
  // as it never moves.
  struct KnownUserBin {
    FileId bin, user_bin;
  };
  static constexpr std::size_t kUserBinsMax = 1000;
  std::map<std::pair<FileId, std::uint32_t>, KnownUserBin> user_bins;
};

}  // namespace stoa::core

// In-memory state of the recycle bins.
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
  // The registry, whose snapshots have the policies. Set while the volume opens, before other threads use it; until
  // then deletions keep nothing.
  const Registry* registry = nullptr;
  // Whether the volume has any bin. While it has none, look-ups of bins are skipped.
  std::atomic<bool> any{false};

  std::mutex mutex;  // guards the members below
  // For each bin, the serial up to which all is purged: a scan from the beginning would cross the tombstones of the
  // purge.
  std::unordered_map<FileId, std::uint64_t> purged_to;
  // The last known user's bin of a user in a recycle root. It stays valid while the directory exists, because it
  // never moves.
  struct KnownUserBin {
    FileId bin, user_bin;
  };
  static constexpr std::size_t kUserBinsMax = 1000;
  std::map<std::pair<FileId, std::uint32_t>, KnownUserBin> user_bins;
};

}  // namespace stoa::core

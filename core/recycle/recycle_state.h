// What the recycle bins keep in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "core/api/ids.h"

namespace stoa::core {

class Registry;

struct RecycleState {
  // Whose snapshots have the policies. Set while the volume opens, before anybody else uses it; until then nothing is kept.
  const Registry* registry = nullptr;
  // Whether the volume has any bin. While it has none, nobody looks for one.
  std::atomic<bool> any{false};

  // Of each bin, up to which serial all is purged: a walk from the beginning would cross what purging left in the store.
  std::mutex mutex;
  std::unordered_map<FileId, std::uint64_t> purged_to;  // guarded by mutex
};

}  // namespace stoa::core

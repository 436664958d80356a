// Iteration around unreadable ranges. Iterators (core/kv/kv_store.h) of stores whose files can be damaged in part
// implement it, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kv/kv_store.h"

namespace stoa::core {

// The keys that a walk left out, [from, to); `to` is empty: all the rest of the walk.
struct KeyGap {
  std::string from, to;
};

class DamagedWalk {
 public:
  virtual ~DamagedWalk() = default;
  // After a move that failed (KvIterator::status()): goes on with the first readable key behind `last`, the last key
  // read (empty: none). Absent: nothing failed.
  virtual std::optional<KeyGap> skip_damage(std::string_view last) = 0;
};

// The same for any iterator: absent, too, where the store knows no way.
inline std::optional<KeyGap> skip_damage(KvIterator& it, std::string_view last) {
  auto* const walk = dynamic_cast<DamagedWalk*>(&it);
  return walk == nullptr ? std::nullopt : walk->skip_damage(last);
}

}  // namespace stoa::core

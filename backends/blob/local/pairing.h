// The metadata's side of the comparison with the data directories of a store when it opens.
//
// Every start raises the generation in all pieces, in three steps, each durable before the next:
//   1. each directory notes the next generation beside its own
//   2. the metadata take the next generation
//   3. each directory takes it, too
// and nothing else is changed in any piece before the third step is done. So a directory fits if its own generation or
// the noted one is that of the metadata. A crash within or behind step 1 leaves the metadata at the directories' own,
// one behind step 2 at the noted one, one within step 3 at either. Any other difference comes from another time, or
// another copy (the nonce). A single step less would not do: metadata that are one start older than their directories
// look like a crash between two writes. If a disk has no room for a step, the raising ends as a crash there would end
// it. The start goes on, because removals make room.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "core/blob/generation.h"

namespace stoa {

// The volume of a store whose metadata end with the process: its directories are worthless to the next.
inline constexpr const char* kVolumeInMemory = "memory";

struct BlobPairing {
  std::string volume;           // its id as text
  core::Generation generation;  // of the metadata
  std::function<Status(const core::Generation& next)>
      raise{};             // step 2; durable on return. Empty: compared, and nothing raised
  std::string metadata{};  // paths, for messages
  std::string home{};      // the data folder
  // Whether another data folder holds this volume, too.
  std::function<bool(const std::string& home)> is_home{};
};

}  // namespace stoa

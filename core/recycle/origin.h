// Where something in a bin came from.
#pragma once

#include <optional>
#include <string>

#include "core/namespace/tree.h"
#include "core/recycle/trash_record.h"

namespace stoa::core {

// `key` leads from `dir`, which lies in no bin, to where the item was: through directories that lie in a bin themselves, or are gone.
struct Origin {
  FileId dir = kNoFile;
  std::string key;  // raw components
};
// Absent: what it was in is gone, and nothing tells where that was. No lock is held.
Result<std::optional<Origin>> origin_of(Tree& tree, ItemRecord item);

}  // namespace stoa::core

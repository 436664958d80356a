// Where something in a bin came from.
#pragma once

#include <string>
#include <vector>

#include "core/namespace/tree.h"
#include "core/recycle/trash_record.h"

namespace stoa::core {

// Directories that lie in a bin themselves count where they were. When one of them is gone and nothing tells where that was, `path` is
// empty and `dir` is kNoFile.
struct Origin {
  std::string path;                 // as POSIX shows it
  std::vector<FileId> directories;  // that it was in, from the nearest up, as far as they are there
  // `key` leads from `dir`, which lies in no bin, to where the item was: through directories that lie in a bin, or are gone.
  FileId dir = kNoFile;
  std::string key;  // raw components
};
// No lock is held.
Result<Origin> origin_of(Tree& tree, ItemRecord item);

}  // namespace stoa::core

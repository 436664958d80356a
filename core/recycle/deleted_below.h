// What was deleted below a directory, in whichever bin it lies.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/recycle/bin.h"

namespace stoa::core {

// All that the bins at and below the directory hold, and, of what lies in bins of directories above it, what was deleted
// below it. Of what lost its directory for good nobody knows that. Not thread-safe. No lock is held.
class DeletedBelow {
 public:
  static Result<DeletedBelow> make(Tree& tree, FileId dir);

  // The bins that may hold such things.
  const std::vector<Bin>& bins() const { return bins_; }
  // Whether this, of any bin, is such a thing. Costs a walk up the tree for each directory that something was in.
  Result<bool> includes(FileId bin, const ItemRecord& item);

 private:
  DeletedBelow(Tree& tree, FileId dir) : tree_(tree), dir_(dir) {}

  Tree& tree_;
  FileId dir_;
  std::vector<Bin> bins_;
  std::set<FileId> whole_;                              // bins at and below the directory
  std::map<std::pair<FileId, FileId>, bool> directories_;  // by ItemRecord's parent and base: whether they are below
};

}  // namespace stoa::core

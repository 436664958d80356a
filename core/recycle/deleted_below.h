// What was deleted below a directory, in whichever bin it lies.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/recycle/bin.h"

namespace stoa::core {

// All that the bins at and below the directory hold, and, of what lies in bins of directories above it, what was
// deleted below it. Of what is in no directory any more nobody knows that. Not thread-safe. No lock is held.
class DeletedBelow {
 public:
  static Result<DeletedBelow> make(const VolumeView& volume, const OpContext& ctx, FileId dir);

  // The bins that may hold such things.
  const std::vector<Bin>& bins() const { return bins_; }
  // Whether this, of any bin, is such a thing. Costs a walk up the tree for each directory that something was in.
  Result<bool> includes(FileId bin, const ItemRecord& item);

 private:
  DeletedBelow(const VolumeView& volume, const OpContext& ctx, FileId dir) : volume_(volume), ctx_(ctx), dir_(dir) {}

  const VolumeView& volume_;
  const OpContext& ctx_;
  FileId dir_;
  std::vector<Bin> bins_;
  std::set<FileId> whole_;  // bins at and below the directory
  // By ItemRecord's parent, base and below: whether they are below the directory.
  std::map<std::tuple<FileId, FileId, std::string>, bool> directories_;
};

}  // namespace stoa::core

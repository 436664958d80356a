// Items deleted below a directory, in all bins that may have them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/recycle/bin.h"

namespace stoa::core {

// All items in the bins at and below the directory. Of the items in bins of directories above it, those deleted
// below it. Items whose directory was purged are not found. Not thread-safe. No lock is held.
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

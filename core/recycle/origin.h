// The old place of an item in a bin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/inode/trash_record.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// `key` leads from `dir`, which lies in no bin, to the item's old directory: through directories that lie in a bin
// themselves, or are gone.
struct Origin {
  FileId dir = kNoFile;
  std::string key;                    // raw components
  std::vector<FileId> directories{};  // on that way: directories in a bin, and present ones with the name of one that
                                      // only an object's key implied
};
// Absent: the parent is gone, and its place is unknown. No lock is held.
Result<std::optional<Origin>> origin_of(const VolumeView& volume, const OpContext& ctx, ItemRecord item);

// Those directories of an object's key that are there now, by their names: `base` first, then as far down as `below`
// leads (ItemRecord). kStale: `base` is gone. No lock is held.
Result<std::vector<NodeRef>> directories_of_key(const VolumeView& volume, const OpContext& ctx, FileId base,
                                                std::string_view below);

}  // namespace stoa::core

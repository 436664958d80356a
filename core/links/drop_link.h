// Taking one name of a file away, and the file itself with its last name: shared by unlink, rename-over, and the
// removal and replacement of keys.
#pragma once

#include "core/inode/inode_usage.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

// Stages the loss of the link (dir, raw) by `node`, which is no directory; dir and node are locked. The entry itself is
// the caller's to remove. With its last link the file goes, or becomes an orphan while somebody has it open or may
// reclaim it. When the file's usage was charged through this link and others remain, the charge moves to the directory
// of one of them if there is room; else it stays where it was, also when that directory goes: a removal must not fail
// for want of room, and no limit may be passed.
Status drop_link(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, FileId dir, std::string_view raw);

// Stages the end of a file that has one name, whoever may have it open. The entry is the caller's to remove.
Status drop_file(VolumeContext& volume, MetaTxn& txn, const NodeRef& node);

// Which directory may carry the file when its link (dir, raw) goes: that of another link, best one in `dir` itself,
// where no charge moves, and rather one outside of recycle bins. kCorrupt: there is none.
struct OtherParent {
  NodeRef dir;
  bool in_bin;
};
Result<OtherParent> other_parent(VolumeContext& volume, FileId id, FileId dir, std::string_view raw);

}  // namespace stoa::core

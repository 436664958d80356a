// Taking one name of a file away, and the file itself with its last name: shared by unlink, rename-over, and the
// removal and replacement of keys.
#pragma once

#include "core/inode/inode_usage.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

// Stages the loss of the link (dir, raw) by `node`, which is no directory; dir and node are locked. The entry itself is
// the caller's to remove. With its last link the file goes, or becomes an orphan while it is open or may be reclaimed.
// If the file was charged through this link and others remain, the charge moves to the directory of one of them that
// has room. Else it stays, even when that directory goes: a removal must not fail for want of room, and no limit may be
// exceeded.
Status drop_link(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, FileId dir, std::string_view raw);

// Stages the end of a file that has one name, even if it is open. The entry is the caller's to remove.
Status drop_file(VolumeContext& volume, MetaTxn& txn, const NodeRef& node);

// The directory to charge for the file when its link (dir, raw) goes: that of another link. Preferred is one in `dir`
// itself, where no charge moves, then one outside of recycle bins. kCorrupt: there is none.
struct OtherParent {
  NodeRef dir;
  bool in_bin;
};
Result<OtherParent> other_parent(VolumeContext& volume, FileId id, FileId dir, std::string_view raw);

}  // namespace stoa::core

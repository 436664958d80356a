// Files without a name: the last one went while the file was open, or it was made so. It lives on, under its id alone,
// until the last close. In grace any file may have been open before the restart, so all that lose their last name then
// live until its end. Its record has no links, and family state lists it ("orphan" + id), so that a crash neither loses
// it early nor leaks it.
//
// It can be written to, so it goes on counting where it lost its name: as one file and its bytes, for its owner, too.
// So no limit is exceeded through it, and the transaction that removes it makes the room. A rename of that directory
// takes the charge along; when the directory goes, its account outlives it (core/usage/ledger.h), so that the
// directories above go on counting it. An orphan purged from a recycle bin counts where the bin did. Orphans are a
// class of their own, which a quota may exclude (UsageClass::kOrphans).
#pragma once

#include "core/txn/meta_txn.h"

namespace stoa::core {

// Stages that the file loses its last name and stays. The node is locked, and LeaseGate::keeps() returned true.
Status stage_orphan(MetaTxn& txn, const NodeRef& node);

// Stages the file `inode`, which is made without a name and counts in the locked directory `dir` until link() gives it
// one (stage_first_name()). Its open is in the table already.
Status add_nameless(MetaTxn& txn, const NodeRef& dir, Inode inode);
// Stages that such a file gets its first name in `dir`, where it counts from then on: both are locked. `next`: its new
// record, which the caller stages, and then its new home. kQuota, kNoSpace.
Status stage_first_name(MetaTxn& txn, const NodeRef& dir, const NodeRef& node, Inode& next);

// Deletes the file if it has no name, is not open and cannot be reclaimed; else nothing. Applied, not durable: after a
// crash the next start does it again.
Status delete_orphan(VolumeContext& volume, FileId file);

// At start and as background work: once grace is over, deletes orphans that no client reclaimed.
Status sweep_orphans(VolumeContext& volume);

}  // namespace stoa::core

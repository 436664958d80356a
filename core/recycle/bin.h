// The recycle bin of a directory, and the steps of deletions into it.
//
// A bin is a directory of its own without a name: family trash leads from the directory that has it (its recycle root)
// to it. It has one directory, a user's bin, for each user who deleted something, accessible to that user alone. Each
// item there is named by its old name, '@' and its serial in hex. Bins and users' bins themselves count as nothing, so
// that a delete never fails for want of room. Files in the users' bins count where the bin is charged: in its recycle
// root and above, or in the volume only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/api/recycle.h"
#include "core/inode/trash_record.h"
#include "core/txn/in_bin.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

// The bin of a directory; kNoFile: it has none.
Result<FileId> bin_of(const VolumeView& volume, FileId dir);

// All bins of directories at and below `dir`, with the directories that have them. kStale, kNotDirectory.
struct Bin {
  NodeRef recycle_root, node;
};
Result<std::vector<Bin>> bins_below(const VolumeView& volume, const OpContext& ctx, FileId dir);

// Whether the volume has any.
Result<bool> has_bins(const VolumeView& volume);

// The policy that applies to deletions in this directory. Needs the tree lock.
struct RecycleDecision {
  const RecyclePolicy* policy = nullptr;  // null: no policy applies
  FileId recycle_root = kNoFile;          // the directory whose bin receives them, if the policy is on
};
RecycleDecision find_policy(const RecycleTable& table, const AncestryRef& dir);

// The destination of a deletion.
struct UserBin {
  FileId recycle_root = kNoFile;
  FileId bin = kNoFile;
  NodeRef node;  // null: it is not kept
  explicit operator bool() const { return node != nullptr; }
};
// The user's bin of the caller for deletions in `dir`. Made when there is none yet and `may` agrees, so that callers
// without the right to delete make none. No lock is held. Re-validate with still_kept() under the locks of the tree,
// `dir` and the user's bin; on false, prepare again.
Result<UserBin> prepare_user_bin(VolumeContext& volume, const OpContext& ctx, const NodeRef& dir,
                                 const std::function<Status()>& may);
bool still_kept(VolumeContext& volume, const UserBin& user_bin, const Node& dir);

// A name that is deleted. `base` and `below`: see ItemRecord.
struct DeletedName {
  FileId dir;
  std::string_view raw;
  FileId base = kNoFile;
  std::string below{};
};

// Stages a name in the user's bin for a file (no directory) in place of one that it loses, whose entry the caller
// removes. All are locked. Its charge goes to the user's bin unless it has another name outside of bins, which then
// carries it.
Status recycle_link(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const UserBin& user_bin,
                    const NodeRef& node, const DeletedName& name);

// The same for an empty directory; without a user's bin, or where files that lost their names in it are charged to it
// still, it is removed: stage_remove_directory() (core/links/remove_directory.h). Unless `alone`, the tree lock is
// shared. False: it takes its account along, which has limits, or something is charged to, and that needs the tree
// alone; nothing is staged. kNotEmpty.
Result<bool> remove_or_recycle_directory(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn,
                                         const UserBin& user_bin, const NodeRef& victim, const DeletedName& name,
                                         bool alone);

// recycle_link() for content that is about to be replaced: it becomes a file of its own in the user's bin, with all
// its attributes. The file is locked, has no writer (its data gate is held exclusively, and it is flushed), and the
// caller gives it other content and meta. kQuota: there is no room for both.
Status recycle_content(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const UserBin& user_bin,
                       const NodeRef& node, const DeletedName& name);

// The item of this entry of a user's bin. kNotFound: it is none.
Result<std::pair<RecycleItemId, ItemRecord>> item_of(const VolumeView& volume, FileId bin, std::string_view name);
Result<ItemRecord> read_item(const VolumeView& volume, const RecycleItemId& item);  // kNotFound
// Its place. kStale: the bin is gone since, or the user's bin.
Result<NodeRef> user_bin_of(VolumeContext& volume, const OpContext& ctx, FileId bin, const ItemRecord& item);

}  // namespace stoa::core

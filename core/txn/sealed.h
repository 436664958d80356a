// Sealed directories: nothing below one may change. The flag is in the directory's record (kSealed) and in its link of
// every chain of ancestors (Ancestry::sealed). Without any seal in the volume each question is one comparison.
#pragma once

#include "core/txn/in_bin.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// All need the tree lock, and the node's.

// The nearest sealed directory that the file is, lies in, or has a name in; kNoFile: none. May read the store for files
// with several names.
Result<FileId> sealing_directory(const VolumeView& volume, const Node& node);
// Cause::kSealed (kReadOnly): it is sealed.
Status require_unsealed(const VolumeView& volume, const Node& node);
// Cause::kSealed, Cause::kInBin: what is sealed, or in a recycle bin. Asked of everything that a change is about.
Status require_changeable(const VolumeView& volume, const Node& node);
// The same for the content of a file, which opens of before it was deleted go on writing (OpContext::open).
Status require_content_changeable(const VolumeView& volume, const OpContext& ctx, const Node& node);

// With no lock held: whether it is sealed now.
Result<bool> is_sealed(const VolumeView& volume, const OpContext& ctx, const NodeRef& node);
// Cause::kSealed: it is. For changes that begin with a step of their own (a recycle bin is made).
Status check_unsealed(const VolumeView& volume, const OpContext& ctx, const NodeRef& node);

// At start: how many directories are sealed.
Result<std::uint64_t> count_seals(const VolumeView& volume);

// Whether the file lies in the directory or has a name in it. Needs the tree lock, and no node's.
Result<bool> lies_below(const VolumeView& volume, const NodeRef& node, FileId dir);

}  // namespace stoa::core

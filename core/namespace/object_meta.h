// The opaque bytes that a key protocol keeps with an object: extended attribute kMetaXattr, with the content version
// that they describe.
#pragma once

#include <optional>

#include "core/txn/meta_txn.h"

namespace stoa::core {

// Of an object that this transaction makes, before it is charged.
void stage_first_meta(MetaTxn& txn, Inode& made, std::string_view bytes);
// Replaces the metadata of an existing file; empty: removes it. kQuota, kNoSpace.
Status stage_meta(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, Inode& next, std::string_view bytes);
Result<std::optional<ObjectMeta>> load_meta(const VolumeView& volume, const Inode& inode);
Result<ObjectMeta> decode_meta(FileId id, std::string_view value);

}  // namespace stoa::core

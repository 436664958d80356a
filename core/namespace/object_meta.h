// The opaque bytes that a key door keeps with an object: extended attribute kMetaXattr, with the content version that they
// describe.
#pragma once

#include <optional>

#include "core/namespace/meta_txn.h"

namespace stoa::core {

void stage_meta(MetaTxn& txn, Inode& next, std::string_view bytes);
void stage_no_meta(MetaTxn& txn, FileId id);
Result<std::optional<ObjectMeta>> load_meta(Tree& tree, const Inode& inode);
Result<ObjectMeta> decode_meta(FileId id, std::string_view value);

}  // namespace stoa::core

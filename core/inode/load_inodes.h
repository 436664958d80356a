// The records of many files at once, as a listing needs them.
#pragma once

#include <functional>
#include <span>

#include "core/inode/inode.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

// `take(i, inode)` for each ids[i] that the store has, in any order. Without ACLs. kCorrupt, kIo: the store's.
Status load_inodes(KvReader& kv, std::span<const FileId> ids, const std::function<Status(std::size_t, Inode)>& take);

}  // namespace stoa::core

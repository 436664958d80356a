// Usage in a volume that was written before symbolic links, extended attributes and ACLs counted.
#pragma once

#include "core/kv/kv_store.h"

namespace stoa::core {

// Makes them count: writes how much each file has of them (at once, in pieces; that can be done again), and puts into
// `batch` the usage records that become larger. Costs a walk of all files and attributes. Where users and groups are
// counted above any of it, they are counted anew (core/namespace/owner_count.h). Nothing of the volume is in use yet,
// and classes are known. kCorrupt, kIo, kNoSpace: the store's.
Status count_attributes(KvStore& kv, WriteBatch& batch);

}  // namespace stoa::core

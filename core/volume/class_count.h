// Usage by class in a volume that was written before it was known.
#pragma once

#include "core/api/ids.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

// Puts into `batch` what makes it known, exactly: usage records with what the recycle bins and the files without a name
// add to them. It costs the number of bins and of such files, times their depth. What users and groups own of it is not
// known so cheaply: where they are counted and there is any of it, they are counted anew
// (core/namespace/owner_count.h). Nothing of the volume is in use yet. kCorrupt, kIo: the store's.
Status count_classes(KvStore& kv, WriteBatch& batch);

// Puts into `batch` that nothing is known of what users and groups own below a directory, but their limits.
Status forget_owners(KvStore& kv, WriteBatch& batch, FileId dir);

}  // namespace stoa::core

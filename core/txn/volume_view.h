// View of an open volume for operations that only read: no committer, and no path to a stored change. Changes of its
// in-memory state (caches, verified blocks, damage found) are allowed.
#pragma once

#include "base/rw_lock.h"
#include "core/blob/blob_store.h"
#include "core/inode/node_cache.h"
#include "core/kv/kv_store.h"
#include "core/state/lease_gate.h"
#include "core/txn/entry_cache.h"
#include "core/txn/recycle_state.h"
#include "core/txn/volume_options.h"
#include "core/usage/ledger.h"

namespace stoa::core {

class DataState;  // core/data: in-memory state of in-place I/O, gc and checksums

struct VolumeView {
  const VolumeOptions& options;
  BlobReader& blobs;
  KvReader& kv;
  NodeCache& nodes;
  EntryCache& entries;
  RwLock& tree_lock;  // shared: chains of directories are stable
  const Ledger& ledger;
  LeaseGate& state;
  RecycleState& recycle;
  DataState* const data;
};

}  // namespace stoa::core

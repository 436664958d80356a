// Changing the size of a file.
#pragma once

#include "core/data/blob_pins.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

// Before the transaction, with the data gate held exclusively and no lock: commits written content of the file.
// Returns the pieces of blobs that the cut leaves unused. kStale: the file is gone.
struct Trimmed {
  std::vector<Piece> pieces;
  BlobPins::Hold hold;  // they may not be another file's before they are punched
};
Result<Trimmed> prepare_truncate(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t size);

// Stages the new size of the locked file `node` into `next` (size, layout, flags, data_version), with its charge:
// kQuota, kNoSpace, kIo. The caller holds the data gate exclusively and stages `next`. The bytes behind the new end
// are gone: growing again gives zeros.
Status stage_truncate(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, Inode& next, std::uint64_t size);

// After the transaction, gate still held: gives the space of large cuts back, once the cut is durable.
void finish_truncate(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const Trimmed& trimmed);

// The references of an extent list that changed.
void stage_changes(MetaTxn& txn, std::span<const Layout::Change> changes);

}  // namespace stoa::core

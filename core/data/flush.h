// The flush of a file: syncs its data and commits the record that names it.
#pragma once

#include "core/journal/note.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Everything written to the file before the call is on disk, and the record that names it is applied; when the ticket
// is durable, all is. The caller holds no node lock; it may hold the data gate. A file that is gone: ticket 0.
Result<CommitTicket> flush_file(VolumeContext& volume, const OpContext& ctx, const NodeRef& node);

// The same for several files, whose content is synced side by side. Returns the first error, after all were tried;
// files that are gone are left out.
Result<CommitTicket> flush_files(VolumeContext& volume, const OpContext& ctx, std::span<const FileId> files);

// Syncs the blobs that the committed record does not name yet.
Status sync_fresh(VolumeContext& volume, const OpContext& ctx, const NodeRef& node);
// Commits the record of a file that an append has made longer, and with it the request (append_again.h). The caller has
// the data gate alone since before sync_fresh(), the tree lock shared and the node locked.
Result<CommitTicket> commit_append(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                   const Appended& appended);

// Tells the periodic flush of a file with uncommitted writes. The node is locked exclusively. True when there are
// more such files than the limit, so that the writer should flush its own.
bool queue_for_flush(VolumeContext& volume, const NodeRef& node);

}  // namespace stoa::core

// The making of a regular file, which create() and open() share.
#pragma once

#include "core/namespace/unfinished_open.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

struct CreatedFile {
  CreateReply reply;
  bool truncate = false;  // an existing file was taken and is to be cut to the wanted size
};

// With the tree lock held; `dir` is not locked. `open`: begun of a new file, while no other request can meet that.
Result<CreatedFile> create_file(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req,
                                const NodeRef& dir, CommitTicket& ticket, UnfinishedOpen* open = nullptr);

}  // namespace stoa::core

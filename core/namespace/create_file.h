// The making of a regular file, which create() and open() share.
#pragma once

#include "core/data/content.h"
#include "core/namespace/unfinished_open.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

struct CreatedFile {
  CreateReply reply;
  bool truncate = false;  // an existing file was taken and is to be cut to the wanted size
};

// What is made with a new file: an open of it, begun while no other request can meet the file, and content.
struct MadeWithFile {
  UnfinishedOpen* open = nullptr;
  const StagedContent* content = nullptr;
};

// With the tree lock held; `dir` is not locked.
Result<CreatedFile> create_file(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req,
                                const NodeRef& dir, CommitTicket& ticket, const MadeWithFile& with = {});
// The same without a name: OpenDisposition::kCreateNameless.
Result<CreatedFile> create_nameless(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req,
                                    const NodeRef& dir, CommitTicket& ticket, UnfinishedOpen& open);

}  // namespace stoa::core

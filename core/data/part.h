// A file whose content is about to become part of another's, without a copy.
#pragma once

#include "core/data/blob_pins.h"
#include "core/namespace/tree.h"

namespace stoa::core {

struct Part {
  Inode record;         // everything that was written to the file is in it
  BlobPins::Hold hold;  // keeps the blobs, should the file go meanwhile
};

// kStale, kWrongType. `stays`: the file goes on living with its content, which is shared from now on.
Result<Part> take_part(Tree& tree, const OpContext& ctx, const NodeRef& node, bool stays);

}  // namespace stoa::core

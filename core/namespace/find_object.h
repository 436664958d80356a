// Look-up of the object that a key names.
#pragma once

#include "core/links/key_path.h"

namespace stoa::core {

struct FoundObject {
  NodeRef dir;
  EntryRecord entry;  // not exists(): no such name in `dir`
  NodeRef node;       // null without an entry
};
// Looks without keeping a lock. kNotFound: a directory of the key is missing.
Result<FoundObject> find_object(const VolumeView& volume, const OpContext& ctx, FileId root, const KeyParts& parts);

// Checks the preconditions of a request against `present` (null: no object): kPreconditionFailed.
Status check_expectation(const std::optional<ObjectExpectation>& expect, const Inode* present);

}  // namespace stoa::core

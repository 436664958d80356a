// What the operations on byte-range locks have in common.
#pragma once

#include "frontends/native/server/op/operations.h"

namespace stoa::native {

// The owner of a lock in the core's table: this session, and the number that the client gives.
core::LockOwner lock_owner(const OperationRun& run, U64 owner);
core::LockRange lock_range(U64 offset, U64 length);
// Whether the caller may know of locks of this file: it has it open, or may read or write it.
WireStatus may_lock(OperationRun& run, core::FileId file);
// A lock in the way, as the reply says it.
LockReply in_the_way(const OperationRun& run, const core::HeldLock& lock);

}  // namespace stoa::native

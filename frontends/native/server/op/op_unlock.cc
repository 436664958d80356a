#include "frontends/native/server/op/byte_locks.h"

namespace stoa::native {

WireStatus op_unlock(OperationRun& run, const UnlockArgs& in, Nothing&) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  const core::LockOwner owner = lock_owner(run, in.owner);
  if (in.offset == 0 && in.length == kLockToEnd) {
    run.state.unlock_all(file, owner);
    return WireStatus::ok;
  }
  STOA_NATIVE_CHECK(run.state.unlock(file, owner, lock_range(in.offset, in.length)));
  return WireStatus::ok;
}

}  // namespace stoa::native

#include "frontends/native/server/op/byte_locks.h"

namespace stoa::native {

WireStatus op_test_lock(OperationRun& run, const LockArgs& in, LockReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_OK(may_lock(run, file));
  STOA_NATIVE_TRY(
      held, run.state.test_lock(file, lock_owner(run, in.owner), lock_range(in.offset, in.length), in.exclusive != 0));
  if (!held) return WireStatus::ok;
  out = in_the_way(run, *held);
  return WireStatus::locked;
}

}  // namespace stoa::native

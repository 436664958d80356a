#include "frontends/native/server/op/byte_locks.h"

namespace stoa::native {

WireStatus op_lock(OperationRun& run, const LockArgs& in, LockReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_OK(may_lock(run, file));
  STOA_NATIVE_OK(run.check_grace(in.reclaim != 0));
  STOA_NATIVE_CHECK(run.native.sessions.remember(run.session));
  const core::LockRequest wanted{.file = file,
                                 .owner = lock_owner(run, in.owner),
                                 .range = lock_range(in.offset, in.length),
                                 .exclusive = in.exclusive != 0};
  STOA_NATIVE_TRY(held, in.waits != 0 ? run.state.lock_in_turn(wanted, std::nullopt)
                                      : run.state.lock(wanted.file, wanted.owner, wanted.range, wanted.exclusive));
  if (!held) return WireStatus::ok;
  out = in_the_way(run, *held);
  return WireStatus::locked;
}

}  // namespace stoa::native

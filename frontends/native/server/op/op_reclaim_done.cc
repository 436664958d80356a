#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_reclaim_done(OperationRun& run, const Nothing&, Nothing&) {
  if (!run.session.reclaimed.exchange(true))
    run.state.reclaim_done(core::Protocol::kNative, run.session.key.stable_name());
  return WireStatus::ok;
}

}  // namespace stoa::native

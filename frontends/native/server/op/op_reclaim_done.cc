#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_reclaim_done(OperationRun& run, const Nothing&, Nothing&) {
  const std::string name = run.session.key.stable_name();
  // It stays on record, and is forgotten when this session ends.
  if (run.state.may_reclaim(core::Protocol::kNative, name))
    STOA_NATIVE_CHECK(run.native.sessions.remember(run.session));
  if (!run.session.reclaimed.exchange(true)) run.state.reclaim_done(core::Protocol::kNative, name);
  return WireStatus::ok;
}

}  // namespace stoa::native

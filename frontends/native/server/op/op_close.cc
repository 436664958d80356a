#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_close(OperationRun& run, const CloseArgs& in, Nothing&) {
  const auto open = run.session.take_open(in.open);
  if (!open) return WireStatus::bad_open;
  run.state.close(open->id);
  return WireStatus::ok;
}

}  // namespace stoa::native

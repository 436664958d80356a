#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_commit(OperationRun& run, const RangeArgs& in, CommitReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(done, run.ns.commit(run.ctx, {.id = file, .offset = in.offset, .length = in.length}));
  out = {.verifier = done.verifier, .attr = to_wire(done.attr)};
  return WireStatus::ok;
}

}  // namespace stoa::native

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_copy_range(OperationRun& run, const CopyRangeArgs& in, CopyRangeReply& out) {
  STOA_NATIVE_TRY(from, run.file(in.from));
  STOA_NATIVE_TRY(to, run.file(in.to));
  STOA_NATIVE_OK(run.through(in.from_open, from, kOpenRead));
  STOA_NATIVE_CHECK(run.state.check_denied(from, run.ctx.open, core::kShareRead));
  STOA_NATIVE_OK(run.through(in.to_open, to, kOpenWrite));
  STOA_NATIVE_CHECK(run.state.check_denied(to, run.ctx.open, core::kShareWrite));
  STOA_NATIVE_TRY(done, run.ns.copy_range(run.ctx, {.from = from,
                                                    .from_offset = in.from_offset,
                                                    .to = to,
                                                    .to_offset = in.to_offset,
                                                    .length = in.length,
                                                    .share = in.share != 0}));
  out = {.length = done.length, .verifier = done.verifier, .attr = to_wire(done.attr)};
  return WireStatus::ok;
}

}  // namespace stoa::native

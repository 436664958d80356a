#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_reserve(OperationRun& run, const RangeArgs& in, AttributesReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_OK(run.through(in.open, file, kOpenWrite));
  STOA_NATIVE_CHECK(run.state.check_denied(file, run.ctx.open, core::kShareWrite));
  STOA_NATIVE_TRY(done, run.with_open_rights(file, OpenRight::kModify, [&](const core::OpContext& ctx) {
    return run.ns.allocate(ctx, {.id = file, .offset = in.offset, .length = in.length, .keep_size = true});
  }));
  out.attr = to_wire(done.attr);
  return WireStatus::ok;
}

}  // namespace stoa::native

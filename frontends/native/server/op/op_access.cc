#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_access(OperationRun& run, const AccessArgs& in, AccessReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(found, run.ns.access(run.ctx, {.id = file, .wanted = in.wanted}));
  out = {.granted = found.granted, .read_only = found.read_only || run.ctx.read_only, .attr = to_wire(found.attr)};
  return WireStatus::ok;
}

}  // namespace stoa::native

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_getattr(OperationRun& run, const FileArgs& in, AttributesReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  // Others may have written under a lease, and not told yet.
  STOA_NATIVE_CHECK(run.state.before_read(run.ctx, file));
  STOA_NATIVE_TRY(found, run.ns.getattr(run.ctx, {.id = file}));
  out.attr = to_wire(found.attr);
  return WireStatus::ok;
}

}  // namespace stoa::native

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_remove_xattr(OperationRun& run, const XattrArgs& in, AttributesReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(done, run.ns.remove_xattr(run.ctx, {.id = file, .name = in.name}));
  out.attr = to_wire(done.attr);
  return WireStatus::ok;
}

}  // namespace stoa::native

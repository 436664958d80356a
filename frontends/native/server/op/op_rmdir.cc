#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_rmdir(OperationRun& run, const RemoveArgs& in, RemoveReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_CHECK(check_name(in.name));
  core::RemoveRequest request{.parent = parent, .name = in.name};
  if (in.file != File{}) {
    STOA_NATIVE_TRY(file, run.file(in.file));
    request.file = file;
  }
  STOA_NATIVE_TRY(gone, run.ns.rmdir(run.ctx, request));
  out = {.removed = static_cast<U64>(gone.removed), .parent = to_wire(gone.parent)};
  return WireStatus::ok;
}

}  // namespace stoa::native

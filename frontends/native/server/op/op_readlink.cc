#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_readlink(OperationRun& run, const FileArgs& in, ReadlinkReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(found, run.ns.readlink(run.ctx, {.id = file}));
  if (found.target.size() > run.room()) return WireStatus::too_large;
  run.text = std::move(found.target);
  out = {.attr = to_wire(found.attr), .target = run.text};
  return WireStatus::ok;
}

}  // namespace stoa::native

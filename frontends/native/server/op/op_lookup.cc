#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_lookup(OperationRun& run, const NameArgs& in, LookupReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  if (in.name != "." && in.name != "..") STOA_NATIVE_CHECK(check_name(in.name));
  STOA_NATIVE_TRY(found, run.ns.lookup(run.ctx, {.parent = parent, .name = in.name, .root = run.ctx.root}));
  out = {.attr = to_wire(found.attr), .parent = to_wire(found.parent)};
  return WireStatus::ok;
}

}  // namespace stoa::native

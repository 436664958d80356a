#include "frontends/native/server/op/made.h"

namespace stoa::native {

WireStatus op_mkdir(OperationRun& run, const MkdirArgs& in, MadeReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_TRY(set, to_core(in.set));
  STOA_NATIVE_CHECK(check_name(in.name));
  return made(run, run.ns.mkdir(run.ctx, {.parent = parent, .name = in.name, .set = set}), out);
}

}  // namespace stoa::native

#include "frontends/native/server/op/made.h"

namespace stoa::native {

WireStatus op_link(OperationRun& run, const LinkArgs& in, MadeReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_CHECK(check_name(in.name));
  return made(run, run.ns.link(run.ctx, {.id = file, .parent = parent, .name = in.name}), out);
}

}  // namespace stoa::native

#include "frontends/native/server/op/made.h"

namespace stoa::native {

WireStatus op_create(OperationRun& run, const CreateArgs& in, MadeReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_TRY(set, to_core(in.set));
  STOA_NATIVE_CHECK(check_name(in.name));
  core::CreateRequest request{.parent = parent, .name = in.name, .set = set, .verifier = in.verifier};
  switch (in.mode) {
    case kCreateUnchecked:
      request.mode = core::CreateMode::kUnchecked;
      break;
    case kCreateGuarded:
      request.mode = core::CreateMode::kGuarded;
      break;
    case kCreateExclusive:
      request.mode = core::CreateMode::kExclusive;
      break;
    default:
      return WireStatus::invalid;
  }
  return made(run, run.ns.create(run.ctx, request), out);
}

}  // namespace stoa::native

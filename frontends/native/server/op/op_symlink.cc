#include "frontends/native/server/op/made.h"

namespace stoa::native {

WireStatus op_symlink(OperationRun& run, const SymlinkArgs& in, MadeReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_TRY(set, to_core(in.set));
  STOA_NATIVE_CHECK(check_name(in.name));
  if (in.target.empty() || in.target.find('\0') != in.target.npos) return WireStatus::invalid;
  if (in.target.size() > core::kSymlinkBytesMax) return WireStatus::name_too_long;
  return made(run, run.ns.symlink(run.ctx, {.parent = parent, .name = in.name, .target = in.target, .set = set}), out);
}

}  // namespace stoa::native

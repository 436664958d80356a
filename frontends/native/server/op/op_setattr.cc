#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_setattr(OperationRun& run, const SetattrArgs& in, AttributesReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(set, to_core(in.set));
  STOA_NATIVE_OK(run.through(in.open, file, kOpenWrite));
  core::SetattrRequest request{.id = file, .set = set};
  if (in.guarded != 0) request.guard_ctime = Timestamp{static_cast<std::int64_t>(in.guard_ctime_ns)};
  // An open gives a right to its content, and to nothing else of the file.
  const bool content_only = in.set.which == kSetSize;
  STOA_NATIVE_TRY(done, content_only ? run.with_open_rights(
                                           file, OpenRight::kModify,
                                           [&](const core::OpContext& ctx) { return run.ns.setattr(ctx, request); })
                                     : run.ns.setattr(run.ctx, request));
  out.attr = to_wire(done.attr);
  return WireStatus::ok;
}

}  // namespace stoa::native

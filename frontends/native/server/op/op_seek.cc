#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_seek(OperationRun& run, const SeekArgs& in, SeekReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  const core::SeekWhat what = in.hole != 0 ? core::SeekWhat::kHole : core::SeekWhat::kData;
  STOA_NATIVE_TRY(found, run.ns.seek(run.ctx, {.id = file, .offset = in.offset, .what = what}));
  out = {.offset = found.offset, .end_of_file = found.end_of_file};
  return WireStatus::ok;
}

}  // namespace stoa::native

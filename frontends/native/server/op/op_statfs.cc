#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_statfs(OperationRun& run, const FileArgs& in, StatfsReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(found, run.ns.statfs(run.ctx, {.id = file}));
  out = {.bytes_total = found.bytes_total,
         .bytes_free = found.bytes_free,
         .bytes_available = found.bytes_available,
         .files_total = found.files_total,
         .files_free = found.files_free,
         .files_available = found.files_available};
  return WireStatus::ok;
}

}  // namespace stoa::native

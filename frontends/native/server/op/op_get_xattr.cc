#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"
#include "frontends/native/server/op/posix_acl.h"
#include "frontends/native/server/op/xattr_name.h"

namespace stoa::native {

WireStatus op_get_xattr(OperationRun& run, const XattrArgs& in, ValueReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  if (const auto acl = posix_acl_kind(in.name)) {
    STOA_NATIVE_TRY(value, get_posix_acl(run, file, *acl));
    if (value.size() > run.room()) return WireStatus::too_large;
    run.text = std::move(value);
    out.value = run.text;
    return WireStatus::ok;
  }
  if (!may_use_xattr(run.ctx, in.name)) return run.failed(Error{Errc::kNoAttribute});
  STOA_NATIVE_TRY(found, run.ns.get_xattr(run.ctx, {.id = file, .name = in.name}));
  if (found.value.size() > run.room()) return WireStatus::too_large;
  run.text = std::move(found.value);
  out.value = run.text;
  return WireStatus::ok;
}

}  // namespace stoa::native

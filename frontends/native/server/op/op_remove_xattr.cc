#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"
#include "frontends/native/server/op/posix_acl.h"
#include "frontends/native/server/op/xattr_name.h"

namespace stoa::native {

WireStatus op_remove_xattr(OperationRun& run, const XattrArgs& in, AttributesReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  if (const auto acl = posix_acl_kind(in.name)) {
    STOA_NATIVE_TRY(attr, set_posix_acl(run, file, *acl, {}));
    out.attr = to_wire(attr);
    return WireStatus::ok;
  }
  if (!may_use_xattr(run.ctx, in.name)) return run.failed(Error{Errc::kNotOwner});
  STOA_NATIVE_TRY(done, run.ns.remove_xattr(run.ctx, {.id = file, .name = in.name}));
  out.attr = to_wire(done.attr);
  return WireStatus::ok;
}

}  // namespace stoa::native

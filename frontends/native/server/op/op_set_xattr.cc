#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"
#include "frontends/native/server/op/posix_acl.h"
#include "frontends/native/server/op/xattr_name.h"

namespace stoa::native {

WireStatus op_set_xattr(OperationRun& run, const SetXattrArgs& in, AttributesReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  if (in.mode > kXattrReplace) return WireStatus::invalid;
  if (const auto acl = posix_acl_kind(in.name)) {
    STOA_NATIVE_TRY(attr, set_posix_acl(run, file, *acl, in.value));
    out.attr = to_wire(attr);
    return WireStatus::ok;
  }
  if (!may_use_xattr(run.ctx, in.name)) return run.failed(Error{Errc::kNotOwner});
  if (in.name.empty()) return WireStatus::invalid;
  if (in.name.size() > core::kXattrNameBytesMax) return WireStatus::name_too_long;
  if (in.value.size() > core::kXattrValueBytesMax) return WireStatus::too_large;
  const core::XattrMode mode = in.mode == kXattrCreate    ? core::XattrMode::kCreate
                               : in.mode == kXattrReplace ? core::XattrMode::kReplace
                                                          : core::XattrMode::kSet;
  STOA_NATIVE_TRY(done, run.ns.set_xattr(run.ctx, {.id = file, .name = in.name, .value = in.value, .mode = mode}));
  out.attr = to_wire(done.attr);
  return WireStatus::ok;
}

}  // namespace stoa::native

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"
#include "frontends/native/server/op/posix_acl.h"
#include "frontends/native/server/op/xattr_name.h"

namespace stoa::native {

WireStatus op_list_xattrs(OperationRun& run, const FileArgs& in, XattrListReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(found, run.ns.list_xattrs(run.ctx, {.id = file}));
  Bytes names;
  U32 count = 0;
  for (const std::string& name : found.names) {
    if (!may_use_xattr(run.ctx, name)) continue;
    append_record(names, 0, XattrName{.name = name});
    ++count;
  }
  STOA_NATIVE_TRY(acls, posix_acl_names(run, file));
  for (const std::string_view name : acls) append_record(names, 0, XattrName{.name = name});
  count += static_cast<U32>(acls.size());
  if (names.size() > run.room()) return WireStatus::too_large;
  run.text.assign(reinterpret_cast<const char*>(names.data()), names.size());
  out = {.count = count, .names = run.text};
  return WireStatus::ok;
}

}  // namespace stoa::native

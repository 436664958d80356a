#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_list_xattrs(OperationRun& run, const FileArgs& in, XattrListReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_TRY(found, run.ns.list_xattrs(run.ctx, {.id = file}));
  Bytes names;
  for (const std::string& name : found.names) append_record(names, 0, XattrName{.name = name});
  if (names.size() > run.room()) return WireStatus::too_large;
  run.text.assign(reinterpret_cast<const char*>(names.data()), names.size());
  out = {.count = static_cast<U32>(found.names.size()), .names = run.text};
  return WireStatus::ok;
}

}  // namespace stoa::native

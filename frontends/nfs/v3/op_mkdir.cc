// RFC 1813 3.3.9
#include "frontends/nfs/v3/made_object.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_mkdir(Operation& op) {
  const auto handle = op.read_handle();
  const auto name = op.read_name();
  DecodedAttributes wanted = decode_set_attributes(op.in);
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_wcc(dir.error());
  NfsStatus bad = check_new_name(name);
  if (bad == NfsStatus::kOk && !wanted.valid) bad = NfsStatus::kInval;
  if (bad != NfsStatus::kOk) return op.failed_with_wcc(op.bad_name_status(*dir, bad), *dir);

  wanted.set.size.reset();  // The size of a directory is the server's affair.
  return made(op, *dir, op.ns.mkdir(op.ctx, {.parent = *dir, .name = name, .set = wanted.set}));
}

}  // namespace stoa::nfs3

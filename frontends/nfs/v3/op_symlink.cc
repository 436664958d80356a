// RFC 1813 3.3.10
#include "frontends/nfs/v3/made_object.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_symlink(Operation& op) {
  const auto handle = op.read_handle();
  const auto name = op.read_name();
  DecodedAttributes wanted = decode_set_attributes(op.in);
  const auto target = op.read_name();
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_wcc(dir.error());
  NfsStatus bad = check_new_name(name);
  if (bad == NfsStatus::kOk && !wanted.valid) bad = NfsStatus::kInval;
  if (bad == NfsStatus::kOk && target.size() > core::kSymlinkBytesMax) bad = NfsStatus::kNameTooLong;
  // The server does not look into the target, but no client could use an empty one, or one with NUL.
  if (bad == NfsStatus::kOk && (target.empty() || target.find('\0') != target.npos)) bad = NfsStatus::kInval;
  if (bad != NfsStatus::kOk) return op.failed_with_wcc(op.bad_name_status(*dir, bad), *dir);

  wanted.set.size.reset();  // It is the target's length.
  return made(op, *dir, op.ns.symlink(op.ctx, {.parent = *dir, .name = name, .target = target, .set = wanted.set}));
}

}  // namespace stoa::nfs3

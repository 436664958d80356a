// RFC 1813 3.3.8
#include "frontends/nfs/v3/made_object.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_create(Operation& op) {
  enum : std::uint32_t { kUnchecked = 0, kGuarded = 1, kExclusive = 2 };
  const auto handle = op.read_handle();
  const auto name = op.read_name();
  const std::uint32_t how = op.in.u32();
  core::CreateRequest request{.name = name};
  bool valid = true;
  switch (how) {
    case kUnchecked:
    case kGuarded: {
      const DecodedAttributes wanted = decode_set_attributes(op.in);
      request.mode = how == kGuarded ? core::CreateMode::kGuarded : core::CreateMode::kUnchecked;
      request.set = wanted.set;
      valid = wanted.valid;
      break;
    }
    case kExclusive:
      request.mode = core::CreateMode::kExclusive;
      request.verifier = op.in.u64();
      break;
    default:
      return garbage();
  }
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_wcc(dir.error());
  NfsStatus bad = check_new_name(name);
  if (bad == NfsStatus::kOk && !valid) bad = NfsStatus::kInval;
  if (bad != NfsStatus::kOk) return op.failed_with_wcc(op.bad_name_status(*dir, bad), *dir);

  request.parent = *dir;
  return made(op, *dir, op.ns.create(op.ctx, request));
}

}  // namespace stoa::nfs3

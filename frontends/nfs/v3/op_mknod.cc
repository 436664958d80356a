// RFC 1813 3.3.11
#include "frontends/nfs/v3/made_object.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_mknod(Operation& op) {
  enum : std::uint32_t { kBlock = 3, kChar = 4, kSocket = 6, kFifo = 7 };  // ftype3
  const auto handle = op.read_handle();
  const auto name = op.read_name();
  core::MknodRequest request{.name = name};
  bool valid = true;
  bool known = true;
  const auto read_attributes = [&] {
    const DecodedAttributes wanted = decode_set_attributes(op.in);
    request.set = wanted.set;
    request.set.size.reset();
    valid = wanted.valid;
  };
  switch (const std::uint32_t type = op.in.u32()) {
    case kBlock:
    case kChar:
      request.type = type == kBlock ? core::FileType::kBlockDevice : core::FileType::kCharDevice;
      read_attributes();
      request.device.major = op.in.u32();
      request.device.minor = op.in.u32();
      break;
    case kSocket:
    case kFifo:
      request.type = type == kSocket ? core::FileType::kSocket : core::FileType::kFifo;
      read_attributes();
      break;
    default:
      known = false;  // The union's default arm is void: well-formed.
  }
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_wcc(dir.error());
  NfsStatus bad = known ? check_new_name(name) : NfsStatus::kBadType;
  if (bad == NfsStatus::kOk && !valid) bad = NfsStatus::kInval;
  if (bad != NfsStatus::kOk) return op.failed_with_wcc(op.bad_name_status(*dir, bad), *dir);

  request.parent = *dir;
  return made(op, *dir, op.ns.mknod(op.ctx, request));
}

}  // namespace stoa::nfs3

// RFC 8881 18.4
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

enum NfsType : std::uint32_t { kDirectory = 2, kBlock = 3, kChar = 4, kSymlink = 5, kSocket = 6, kFifo = 7 };

struct Wanted {
  std::uint32_t type = 0;
  std::string_view target{};  // of a symlink
  core::DeviceNumber device{};
  std::string_view name{};
  DecodedAttributes attributes{};
};

Wanted read_arguments(Compound& c) {
  Wanted wanted{.type = c.in.u32()};
  switch (wanted.type) {
    case kSymlink:
      wanted.target = c.read_name();
      break;
    case kBlock:
    case kChar:
      wanted.device.major = c.in.u32();
      wanted.device.minor = c.in.u32();
      break;
    default:
      break;
  }
  wanted.name = c.read_name();
  wanted.attributes = decode_attributes(c.in, c.minor, SetPurpose::kCreate, id_names(c));
  return wanted;
}

Result<core::CreateReply> make(Compound& c, core::FileId parent, const Wanted& wanted) {
  const core::SetAttributes& set = wanted.attributes.set;
  const auto special = [&](core::FileType type) {
    return c.ns.mknod(c.ctx, {parent, wanted.name, type, wanted.device, set});
  };
  switch (wanted.type) {
    case kDirectory:
      return c.ns.mkdir(c.ctx, {parent, wanted.name, set});
    case kSymlink:
      return c.ns.symlink(c.ctx, {parent, wanted.name, wanted.target, set});
    case kBlock:
      return special(core::FileType::kBlockDevice);
    case kChar:
      return special(core::FileType::kCharDevice);
    case kSocket:
      return special(core::FileType::kSocket);
    default:
      return special(core::FileType::kFifo);
  }
}

}  // namespace

Nfs4Status op_create(Compound& c) {
  const Wanted wanted = read_arguments(c);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto dir = c.file();
  if (dir.status != Nfs4Status::kOk) return dir.status;
  // Regular files are made by OPEN.
  if (wanted.type < kDirectory || wanted.type > kFifo) return Nfs4Status::kBadType;
  if (const Nfs4Status bad = check_name(wanted.name); bad != Nfs4Status::kOk) return bad;
  if (wanted.attributes.status != Nfs4Status::kOk) return wanted.attributes.status;
  if (wanted.attributes.set.size) return Nfs4Status::kInval;

  const auto reply = make(c, dir.id, wanted);
  // A symlink has no ACL.
  if (!reply && reply.error().code == Errc::kWrongType) return Nfs4Status::kAttrNotSupp;
  if (!reply) return c.status_of(reply.error());
  c.set_current_file(reply->attr);
  c.change_info(reply->parent_before, reply->parent);
  wanted.attributes.given.encode(c.out);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8276 8.4.2
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/xattr_name.h"

namespace stoa::nfs4 {

Nfs4Status op_setxattr(Compound& c) {
  enum : std::uint32_t { kEither = 0, kCreate = 1, kReplace = 2 };  // setxattr_option4
  const std::uint32_t option = c.in.u32();
  const auto key = c.read_name();
  const auto value = c.read_name();
  if (!c.in.ok() || option > kReplace) return Nfs4Status::kBadXdr;
  const auto file = c.file();
  if (file.status != Nfs4Status::kOk) return file.status;
  const XattrName name = to_core_xattr(key);
  if (name.status != Nfs4Status::kOk) return name.status;

  const auto mode = option == kEither   ? core::XattrMode::kSet
                    : option == kCreate ? core::XattrMode::kCreate
                                        : core::XattrMode::kReplace;
  const auto reply = c.ns.set_xattr(c.ctx, {.id = file.id, .name = name.name, .value = value, .mode = mode});
  if (!reply) return c.status_of(reply.error());
  c.change_info(reply->before, reply->attr);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

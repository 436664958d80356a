// RFC 8881 18.24
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_readlink(Compound& c) {
  const Nfs4Status no_symlink = c.minor == 0 ? Nfs4Status::kInval : Nfs4Status::kWrongType;
  const auto file = c.file(no_symlink);
  if (file.status != Nfs4Status::kOk) return file.status;

  const auto reply = c.ns.readlink(c.ctx, {.id = file.id});
  if (!reply) {
    const Errc code = reply.error().code;
    const bool type = code == Errc::kInvalid || code == Errc::kWrongType || code == Errc::kIsDirectory;
    return type ? no_symlink : c.status_of(reply.error());
  }
  c.out.string(reply->target);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

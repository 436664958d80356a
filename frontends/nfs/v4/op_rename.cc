// RFC 8881 18.26
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

bool is_directory(Compound& c, core::FileId id) {
  const auto now = c.ns.getattr(c.ctx, {.id = id});
  return now && now->attr.type == core::FileType::kDirectory;
}

// "If they are not compatible or if the target is a directory but not empty, the server will return the error
// NFS4ERR_EXIST."
Nfs4Status rename_status(Compound& c, core::FileId from, core::FileId to, const Error& error) {
  switch (error.code) {
    case Errc::kIsDirectory:
    case Errc::kNotEmpty:
      return Nfs4Status::kExist;
    case Errc::kNotDirectory:
      return is_directory(c, from) && is_directory(c, to) ? Nfs4Status::kExist : Nfs4Status::kNotDir;
    default:
      return c.status_of(error);
  }
}

}  // namespace

Nfs4Status op_rename(Compound& c) {
  const auto from_name = c.read_name();
  const auto to_name = c.read_name();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto to = c.file();
  if (to.status != Nfs4Status::kOk) return to.status;
  const auto from = c.saved_file();
  if (from.status != Nfs4Status::kOk) return from.status;
  for (const auto name : {from_name, to_name}) {
    if (const Nfs4Status bad = check_name(name); bad != Nfs4Status::kOk) return bad;
  }

  const auto reply =
      c.ns.rename(c.ctx, {.from_parent = from.id, .from_name = from_name, .to_parent = to.id, .to_name = to_name});
  if (!reply) return rename_status(c, from.id, to.id, reply.error());
  c.change_info(reply->from_before, reply->from);
  c.change_info(reply->to_before, reply->to);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

#include "frontends/nfs/v4/object_type.h"

namespace stoa::nfs4 {

Nfs4Status data_status(Compound& c, core::FileId file, const Error& error) {
  if (error.code != Errc::kInvalid && error.code != Errc::kWrongType) return c.status_of(error);
  const auto now = c.ns.getattr(c.ctx, {.id = file});
  if (!now) return c.status_of(now.error());
  if (now->attr.type == core::FileType::kDirectory) return Nfs4Status::kIsDir;
  if (now->attr.type == core::FileType::kRegular || c.minor == 0) return Nfs4Status::kInval;
  return now->attr.type == core::FileType::kSymlink ? Nfs4Status::kSymlink : Nfs4Status::kWrongType;
}

Nfs4Status directory_status(Compound& c, core::FileId dir, const Error& error) {
  if (error.code != Errc::kNotDirectory) return c.status_of(error);
  const auto now = c.ns.getattr(c.ctx, {.id = dir});
  const bool symlink = now && now->attr.type == core::FileType::kSymlink;
  return symlink ? Nfs4Status::kSymlink : Nfs4Status::kNotDir;
}

}  // namespace stoa::nfs4

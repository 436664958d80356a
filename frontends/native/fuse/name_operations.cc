// Operations that make, move and remove names.
#include "frontends/native/fuse/attributes.h"
#include "frontends/native/fuse/operations.h"

namespace stoa::native::fuse {
namespace {

// <linux/fs.h>, which collides with <sys/mount.h>.
constexpr std::uint32_t kRenameNoReplace = 1;
constexpr std::uint32_t kRenameExchange = 2;

Answer rename_answer(Exchange& x, std::uint64_t to_node, std::uint32_t flags) {
  int error = 0;
  const auto from_name = x.entry_name(error);
  if (error != 0) return {.error = error};
  const auto to_name = x.entry_name(error);
  if (error != 0) return {.error = error};
  if ((flags & ~(kRenameNoReplace | kRenameExchange)) != 0) return x.malformed();
  if (flags == (kRenameNoReplace | kRenameExchange)) return x.malformed();
  return x.done(x.fs.rename(x.call, {.from_parent = x.id(),
                                     .from_name = from_name,
                                     .to_parent = x.file_of(to_node),
                                     .to_name = to_name,
                                     .no_replace = flags == kRenameNoReplace,
                                     .exchange = flags == kRenameExchange}));
}

}  // namespace

Answer handle_readlink(Exchange& x) {
  const auto target = x.fs.readlink(x.call, x.id());
  if (!target) return x.failed(target.error());
  return x.text(*target, core::kSymlinkBytesMax);
}

Answer handle_symlink(Exchange& x) {
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  const auto target = x.in.text();
  if (!target || target->empty()) return x.malformed();
  if (target->size() > core::kSymlinkBytesMax) return {.error = ENAMETOOLONG};
  return entry_answer(x, x.fs.symlink(x.call, {.parent = x.id(), .name = name, .mode = 0777}, *target));
}

Answer handle_mknod(Exchange& x) {
  const auto in = x.in.take<fuse_mknod_in>();
  if (!in) return x.malformed();
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  const NewName at{.parent = x.id(), .name = name, .mode = in->mode & 07777u, .umask = in->umask & 0777u};
  return entry_answer(x, x.fs.mknod(x.call, at, type_of(in->mode), device_of(in->rdev)));
}

Answer handle_mkdir(Exchange& x) {
  const auto in = x.in.take<fuse_mkdir_in>();
  if (!in) return x.malformed();
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  const NewName at{.parent = x.id(), .name = name, .mode = in->mode & 07777u, .umask = in->umask & 0777u};
  return entry_answer(x, x.fs.mkdir(x.call, at));
}

Answer handle_link(Exchange& x) {
  const auto in = x.in.take<fuse_link_in>();
  if (!in) return x.malformed();
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  return entry_answer(x, x.fs.link(x.call, x.file_of(in->oldnodeid), {.parent = x.id(), .name = name}));
}

Answer handle_unlink(Exchange& x) {
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  return x.done(x.fs.unlink(x.call, x.id(), name));
}

Answer handle_rmdir(Exchange& x) {
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  return x.done(x.fs.rmdir(x.call, x.id(), name));
}

Answer handle_rename(Exchange& x) {
  const auto in = x.in.take<fuse_rename_in>();
  if (!in) return x.malformed();
  return rename_answer(x, in->newdir, 0);
}

Answer handle_rename2(Exchange& x) {
  const auto in = x.in.take<fuse_rename2_in>();
  if (!in) return x.malformed();
  return rename_answer(x, in->newdir, in->flags);
}

}  // namespace stoa::native::fuse

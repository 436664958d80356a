// Names and attributes of a mount.
#include "frontends/native/mount/mounted_file_system.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "frontends/native/protocol/posix_acl_name.h"

namespace stoa::native::mount {
namespace {

core::SetAttributes of_new(const fuse::NewName& at) {
  return {.mode = at.mode, .umask = at.umask};
}

// xattr(7): beside POSIX ACLs, only these may be made by users and the system on every file system.
bool is_served_xattr(std::string_view name) {
  return name.starts_with("user.") || name.starts_with("trusted.") || name.starts_with("security.") ||
         is_posix_acl(name);
}

// trusted.* is seen by the superuser alone.
bool may_use_xattr(const fuse::Call& call, std::string_view name) {
  return !name.starts_with("trusted.") || call.caller().uid == 0;
}

// Nothing is kept in the kernel: all times are 0.

Result<fuse::TimedAttributes> unkept(Result<core::Attributes> found) {
  STOA_TRY(attr, std::move(found));
  return fuse::TimedAttributes{.attr = attr};
}

Status check_xattr_name(const fuse::Call& call, std::string_view name, Errc otherwise) {
  if (!is_served_xattr(name)) return fail(Errc::kNotSupported);
  if (!may_use_xattr(call, name)) return fail(otherwise);
  return {};
}

}  // namespace

Asker MountedFileSystem::process(const fuse::Call& call) {
  const fuse::Caller& caller = call.caller();
  Asker asker{.cred = {.uid = caller.uid, .gid = caller.gid}};
  // The groups of the superuser decide nothing.
  if (caller.uid != 0) asker.cred.groups = groups_.of(caller.pid, caller.uid, caller.gid);
  asker.gives_up = [&call] { return given_up(call); };
  return asker;
}

Status MountedFileSystem::require(const Asker& asker, core::FileId id, std::uint32_t wanted) {
  STOA_TRY(granted, storage_.access(asker, id, wanted));
  if ((granted & wanted) != wanted) return fail(Errc::kAccess);
  return {};
}

// Attributes, and all names: the kernel takes no lock for them, so a thread that serves a request may do this. Of a
// kernel that cannot do it with all names they go with the lease of their directory, a moment later.
void MountedFileSystem::forget_rights(core::FileId id, bool names_too) {
  KernelCache* const kernel = kernel_.load();
  if (kernel == nullptr) return;
  kernel->forget_attributes(id);
  if (names_too) (void)kernel->forget_all_names();
}

Result<fuse::Entry> MountedFileSystem::lookup(const fuse::Call& call, core::FileId parent, std::string_view name) {
  const LeaseTicket moment = times_.moment();
  auto found = storage_.lookup(process(call), parent, name);
  const bool absent = !found && found.error().code == Errc::kNotFound;
  if (!found && !absent) return fail(found.error());
  const core::FileId file = found ? found->id : core::kNoFile;
  fuse::Entry entry{.valid = {.entry = times_.name(call, moment, parent, name, file)}};
  if (absent && entry.valid.entry.count() <= 0) return fail(found.error());
  if (found) {
    entry.attr = *found;
    entry.valid.attr = times_.attributes(call, moment, found->id);
  }
  return entry;
}

// Attributes are told to everybody who knows the file, so no groups are needed.
Result<fuse::TimedAttributes> MountedFileSystem::getattr(const fuse::Call& call, const fuse::OpenFile& file) {
  const OpenEntry nobody{.id = file.id, .cred = {.uid = call.caller().uid, .gid = call.caller().gid}};
  const auto entry = opens_.find(file.handle);
  const LeaseTicket moment = times_.moment();
  STOA_TRY(attr, storage_.getattr(opener(call, entry ? *entry : nobody), file.id));
  return fuse::TimedAttributes{.attr = attr, .valid = times_.attributes(call, moment, file.id)};
}

Result<fuse::TimedAttributes> MountedFileSystem::setattr(const fuse::Call& call, const fuse::OpenFile& file,
                                                         const core::SetAttributes& set) {
  // ftruncate(2) asks for nothing but a descriptor that is open for writing.
  if (const auto entry = opens_.find(file.handle); entry && set.size) {
    return unkept(storage_.setattr(opener(call, *entry), file.id, entry->open, set));
  }
  const bool searched = (set.mode || set.uid || set.gid) && times_.shares_names(file.id);
  auto attr = storage_.setattr(process(call), file.id, 0, set);
  if (searched && attr && (rights_of_everybody(*attr) & core::kAccessLookup) == 0) forget_rights(file.id, true);
  return unkept(std::move(attr));
}

Result<std::string> MountedFileSystem::readlink(const fuse::Call& call, core::FileId id) {
  return storage_.readlink(process(call), id);
}

Status MountedFileSystem::access(const fuse::Call& call, core::FileId id, std::uint32_t access) {
  std::uint32_t wanted = 0;
  if ((access & R_OK) != 0) wanted |= core::kAccessRead;
  if ((access & W_OK) != 0) wanted |= core::kAccessModify | core::kAccessExtend;
  // One of them is granted, by the type of the file.
  constexpr std::uint32_t kExecuteOrLookup = core::kAccessExecute | core::kAccessLookup;
  const bool executes = (access & X_OK) != 0;
  STOA_TRY(granted, storage_.access(process(call), id, wanted | (executes ? kExecuteOrLookup : 0)));
  if ((granted & wanted) != wanted || (executes && (granted & kExecuteOrLookup) == 0)) return fail(Errc::kAccess);
  return {};
}

Result<fuse::Entry> MountedFileSystem::made(const fuse::Call& call, const LeaseTicket& moment, const fuse::NewName& at,
                                            Result<core::Attributes> made) const {
  STOA_TRY(attr, std::move(made));
  return fuse::Entry{.attr = attr,
                     .valid = {.entry = times_.name(call, moment, at.parent, at.name, attr.id),
                               .attr = times_.attributes(call, moment, attr.id)}};
}

Result<fuse::Entry> MountedFileSystem::mknod(const fuse::Call& call, const fuse::NewName& at, core::FileType type,
                                             core::DeviceNumber device) {
  const Asker asker = process(call);
  const LeaseTicket moment = times_.moment();
  if (type == core::FileType::kRegular) {
    return made(
        call, moment, at,
        storage_.create(asker,
                        {.parent = at.parent, .name = at.name, .mode = core::CreateMode::kGuarded, .set = of_new(at)}));
  }
  return made(
      call, moment, at,
      storage_.mknod(asker, {.parent = at.parent, .name = at.name, .type = type, .device = device, .set = of_new(at)}));
}

Result<fuse::Entry> MountedFileSystem::mkdir(const fuse::Call& call, const fuse::NewName& at) {
  const LeaseTicket moment = times_.moment();
  return made(call, moment, at,
              storage_.mkdir(process(call), {.parent = at.parent, .name = at.name, .set = of_new(at)}));
}

Result<fuse::Entry> MountedFileSystem::symlink(const fuse::Call& call, const fuse::NewName& at,
                                               std::string_view target) {
  const LeaseTicket moment = times_.moment();
  return made(call, moment, at,
              storage_.symlink(process(call),
                               {.parent = at.parent, .name = at.name, .target = target, .set = {.mode = at.mode}}));
}

Result<fuse::Entry> MountedFileSystem::link(const fuse::Call& call, core::FileId id, const fuse::NewName& at) {
  const LeaseTicket moment = times_.moment();
  return made(call, moment, at, storage_.link(process(call), {.id = id, .parent = at.parent, .name = at.name}));
}

Status MountedFileSystem::unlink(const fuse::Call& call, core::FileId parent, std::string_view name) {
  return storage_.unlink(process(call), {.parent = parent, .name = name});
}

Status MountedFileSystem::rmdir(const fuse::Call& call, core::FileId parent, std::string_view name) {
  return storage_.rmdir(process(call), {.parent = parent, .name = name});
}

Status MountedFileSystem::rename(const fuse::Call& call, const fuse::RenameCall& rename) {
  const Status renamed = storage_.rename(process(call), {.from_parent = rename.from_parent,
                                                         .from_name = rename.from_name,
                                                         .to_parent = rename.to_parent,
                                                         .to_name = rename.to_name,
                                                         .no_replace = rename.no_replace,
                                                         .exchange = rename.exchange});
  if (renamed) times_.renamed(rename);
  return renamed;
}

Result<core::StatfsReply> MountedFileSystem::statfs(const fuse::Call& call, core::FileId id) {
  return storage_.statfs(process(call), id);
}

Result<std::string> MountedFileSystem::get_xattr(const fuse::Call& call, core::FileId id, std::string_view name) {
  STOA_CHECK_OK(check_xattr_name(call, name, Errc::kNoAttribute));
  return storage_.get_xattr(process(call), {.id = id, .name = name});
}

Result<std::vector<std::string>> MountedFileSystem::list_xattrs(const fuse::Call& call, core::FileId id) {
  STOA_TRY(names, storage_.list_xattrs(process(call), id));
  std::vector<std::string> seen;
  for (std::string& name : names) {
    if (may_use_xattr(call, name)) seen.push_back(std::move(name));
  }
  return seen;
}

Status MountedFileSystem::set_xattr(const fuse::Call& call, core::FileId id, std::string_view name,
                                    std::string_view value, core::XattrMode mode) {
  STOA_CHECK_OK(check_xattr_name(call, name, Errc::kNotOwner));
  const bool searched = times_.shares_names(id);
  const Status set = storage_.set_xattr(process(call), {.id = id, .name = name, .value = value, .mode = mode});
  if (is_posix_acl(name)) forget_rights(id, searched);
  return set;
}

Status MountedFileSystem::remove_xattr(const fuse::Call& call, core::FileId id, std::string_view name) {
  STOA_CHECK_OK(check_xattr_name(call, name, Errc::kNotOwner));
  const bool searched = times_.shares_names(id);
  const Status removed = storage_.remove_xattr(process(call), {.id = id, .name = name});
  if (is_posix_acl(name)) forget_rights(id, searched);
  return removed;
}

MountedFileSystem::State MountedFileSystem::state() const {
  State state{.locks = held_.all()};
  state.opens = opens_.all(state.last_handle);
  return state;
}

void MountedFileSystem::restore(const State& state) {
  opens_.restore(state.opens, state.last_handle);
  for (const HeldLocks::Kept& lock : state.locks) held_.add(lock.file, lock.owner, lock.pid, lock.handle);
}

}  // namespace stoa::native::mount

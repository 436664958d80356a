// Locks of a mount: fcntl locks belong to a process, flock locks to an open file, and both are one kind at the server.
#include "frontends/native/mount/mounted_file_system.h"

namespace stoa::native::mount {
namespace {

// The kernel's owners are random numbers; those of flock must differ from a process's.
constexpr std::uint64_t kFlockOwners = 0x8f1bbcdc5a827999U;

std::uint64_t server_owner(const fuse::LockCall& lock) {
  return lock.flock ? lock.owner ^ kFlockOwners : lock.owner;
}

StorageLock to_server(const fuse::LockCall& lock) {
  return {.file = lock.file.id, .owner = server_owner(lock), .range = lock.range, .exclusive = lock.exclusive};
}

// A lock asks for no permission but that of the open, so no groups are needed. A signal ends the wait for a lock
// between two questions (fuse/lock_waits.h). The question itself goes on: if nobody took its result, the lock would be
// given up, and with it what the owner held of the range before.
Asker lock_asker(const fuse::Call& call) {
  return {.cred = {.uid = call.caller().uid, .gid = call.caller().gid},
          .gives_up = [&call] { return MountedFileSystem::given_up(call); }};
}

}  // namespace

Result<std::optional<fuse::LockCall>> MountedFileSystem::get_lock(const fuse::Call& call, const fuse::LockCall& lock) {
  STOA_TRY(held, storage_.test_lock(lock_asker(call), to_server(lock)));
  if (!held) return std::optional<fuse::LockCall>{};
  return std::optional<fuse::LockCall>{{.file = lock.file,
                                        .range = held->range,
                                        .exclusive = held->exclusive,
                                        .pid = held->owner != 0 ? held_.pid_of(lock.file.id, held->owner) : 0}};
}

Result<bool> MountedFileSystem::set_lock(const fuse::Call& call, const fuse::LockCall& lock, bool waits) {
  STOA_TRY(in_the_way, storage_.lock(lock_asker(call), to_server(lock), waits));
  if (in_the_way) return false;
  held_.add(lock.file.id, server_owner(lock), lock.pid, static_cast<std::uint64_t>(lock.file.handle));
  return true;
}

Status MountedFileSystem::unlock(const fuse::Call& call, const fuse::LockCall& lock) {
  const StorageLock range = to_server(lock);
  const bool whole = range.range == core::LockRange{};
  const std::uint32_t pid = held_.pid_of(range.file, range.owner);
  if (whole && !held_.remove(range.file, range.owner)) return {};
  const Status unlocked = storage_.unlock(lock_asker(call), range);
  // It may still be held: closing asks again.
  if (!unlocked && whole) held_.add(range.file, range.owner, pid, static_cast<std::uint64_t>(lock.file.handle));
  return unlocked;
}

// The locks of a process end when it closes any descriptor of the file (fcntl(2)).
Status MountedFileSystem::flush(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t lock_owner) {
  const Status unlocked = unlock(call, {.file = file, .owner = lock_owner});
  const auto entry = opens_.find(file.handle);
  const Status written = entry ? storage_.flush(opener(call, *entry), file.id, entry->open) : Status{};
  return unlocked ? written : unlocked;
}

}  // namespace stoa::native::mount

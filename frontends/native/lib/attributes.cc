// Attributes: stat, chmod, chown, times, access, sizes, space.
#include "frontends/native/lib/attributes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <limits>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/flags.h"
#include "frontends/native/lib/paths.h"

namespace stoa::native::lib {
namespace {

constexpr std::uint32_t kPermissions = 07777;
constexpr std::uint32_t kKeepId = 0xffffffff;
constexpr std::uint64_t kOffsetMax = std::numeric_limits<std::int64_t>::max();

std::uint32_t type_bits(core::FileType type) {
  constexpr std::array<std::uint32_t, 8> kBits = {0, S_IFREG, S_IFDIR, S_IFLNK, S_IFBLK, S_IFCHR, S_IFSOCK, S_IFIFO};
  return kBits[static_cast<std::size_t>(type)];
}

std::optional<core::SetTime> time_to_set(std::int64_t ns) {
  if (ns == STOA_TIME_KEEP) return std::nullopt;
  if (ns == STOA_TIME_NOW) return core::SetTime{.server_time = true};
  return core::SetTime{.time = {ns}};
}

Status set_of_path(stoa_fs* fs, stoa_dir* at, const char* path, bool follow, const core::SetAttributes& set) {
  STOA_TRY(session, fs->session());
  STOA_TRY(file, find_file(*session, at, path, follow));
  STOA_CHECK_OK(session->storage().setattr(session->asker(), file.id, 0, set));
  return {};
}

Status set_of_file(stoa_file* file, const core::SetAttributes& set) {
  STOA_TRY(session, file->fs.session());
  STOA_CHECK_OK(session->storage().setattr(session->asker(), file->id, 0, set));
  return {};
}

core::SetAttributes owners(std::uint32_t uid, std::uint32_t gid) {
  core::SetAttributes set;
  if (uid != kKeepId) set.uid = uid;
  if (gid != kKeepId) set.gid = gid;
  return set;
}

core::SetAttributes times(std::int64_t atime_ns, std::int64_t mtime_ns) {
  return {.atime = time_to_set(atime_ns), .mtime = time_to_set(mtime_ns)};
}

Status check_mode(std::uint32_t mode) {
  if ((mode & ~kPermissions) != 0) return fail(Errc::kInvalid);
  return {};
}

}  // namespace

stoa_attributes to_c(const core::Attributes& attr) {
  return {.id = static_cast<std::uint64_t>(attr.id),
          .size = attr.size,
          .allocated = attr.allocated,
          .change = attr.change,
          .atime_ns = attr.atime.ns,
          .mtime_ns = attr.mtime.ns,
          .ctime_ns = attr.ctime.ns,
          .btime_ns = attr.btime.ns,
          .mode = attr.mode | type_bits(attr.type),
          .links = attr.links,
          .uid = attr.uid,
          .gid = attr.gid,
          .device_major = attr.device.major,
          .device_minor = attr.device.minor,
          .spare = {}};
}

}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_stat(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t flags, stoa_attributes* attributes) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    STOA_TRY(session, fs->session());
    STOA_TRY(found, find_file(*session, at, path, follows(flags)));
    *attributes = to_c(found);
    return {};
  });
}

int stoa_fstat(stoa_file* file, stoa_attributes* attributes) {
  return c_status([&]() -> Status {
    STOA_TRY(session, file->fs.session());
    STOA_TRY(found, session->storage().getattr(session->asker(), file->id));
    *attributes = to_c(found);
    return {};
  });
}

int stoa_chmod(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t mode) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(check_mode(mode));
    return set_of_path(fs, at, path, true, {.mode = mode});
  });
}

int stoa_fchmod(stoa_file* file, uint32_t mode) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(check_mode(mode));
    return set_of_file(file, {.mode = mode});
  });
}

int stoa_chown(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t uid, uint32_t gid, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    return set_of_path(fs, at, path, follows(flags), owners(uid, gid));
  });
}

int stoa_fchown(stoa_file* file, uint32_t uid, uint32_t gid) {
  return c_status([&] { return set_of_file(file, owners(uid, gid)); });
}

int stoa_utimens(stoa_fs* fs, stoa_dir* at, const char* path, int64_t atime_ns, int64_t mtime_ns, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    return set_of_path(fs, at, path, follows(flags), times(atime_ns, mtime_ns));
  });
}

int stoa_futimens(stoa_file* file, int64_t atime_ns, int64_t mtime_ns) {
  return c_status([&] { return set_of_file(file, times(atime_ns, mtime_ns)); });
}

int stoa_access(stoa_fs* fs, stoa_dir* at, const char* path, int mode, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    if ((mode & ~(R_OK | W_OK | X_OK)) != 0) return fail(Errc::kInvalid);
    STOA_TRY(session, fs->session());
    STOA_TRY(file, find_file(*session, at, path, follows(flags)));
    std::uint32_t wanted = 0;
    if ((mode & R_OK) != 0) wanted |= core::kAccessRead;
    if ((mode & W_OK) != 0) wanted |= core::kAccessModify | core::kAccessExtend;
    if ((mode & X_OK) != 0) {
      wanted |= file.type == core::FileType::kDirectory ? core::kAccessLookup : core::kAccessExecute;
    }
    if (wanted == 0) return {};
    STOA_TRY(granted, session->storage().access(session->asker(), file.id, wanted));
    if ((granted & wanted) != wanted) return fail(Errc::kAccess);
    return {};
  });
}

int stoa_truncate(stoa_fs* fs, stoa_dir* at, const char* path, uint64_t bytes) {
  return c_status([&]() -> Status {
    if (bytes > kOffsetMax) return fail(Errc::kInvalid);
    return set_of_path(fs, at, path, true, {.size = bytes});
  });
}

int stoa_ftruncate(stoa_file* file, uint64_t bytes) {
  return c_status([&]() -> Status {
    if (bytes > kOffsetMax) return fail(Errc::kInvalid);
    if (!file->writes()) return fail(Errc::kInvalid);  // ftruncate(2)
    STOA_TRY(session, file->fs.session());
    STOA_TRY(open, file->open(*session));
    STOA_CHECK_OK(session->storage().setattr(session->asker(), file->id, open, {.size = bytes}));
    return {};
  });
}

int stoa_statvfs(stoa_fs* fs, stoa_dir* at, const char* path, stoa_space* space) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    STOA_TRY(file, find_file(*session, at, path, true));
    STOA_TRY(found, session->storage().statfs(session->asker(), file.id));
    *space = {.bytes_total = found.bytes_total,
              .bytes_free = found.bytes_free,
              .bytes_available = found.bytes_available,
              .files_total = found.files_total,
              .files_free = found.files_free,
              .files_available = found.files_available,
              .spare = {}};
    return {};
  });
}

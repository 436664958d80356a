// What makes, removes and moves names.
#include <sys/stat.h>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/flags.h"
#include "frontends/native/lib/paths.h"

namespace stoa::native::lib {
namespace {

const Error kTaken{.code = Errc::kExists};

Result<core::FileType> type_to_make(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case 0:
    case S_IFREG:
      return core::FileType::kRegular;
    case S_IFIFO:
      return core::FileType::kFifo;
    case S_IFSOCK:
      return core::FileType::kSocket;
    case S_IFCHR:
      return core::FileType::kCharDevice;
    case S_IFBLK:
      return core::FileType::kBlockDevice;
    default:
      return fail(Errc::kInvalid);
  }
}

// Of a name that must not be a directory's: a slash at its end says that it is one.
Status refuse_slash(const Place& place) {
  if (place.must_be_directory) return fail(Errc::kNotDirectory);
  return {};
}

Status link_to(LibraryFileSystem& session, core::FileId id, stoa_dir* to_at, const char* to_path) {
  STOA_TRY(to, find_name(session, to_at, to_path, kTaken));
  STOA_CHECK_OK(refuse_slash(to));
  STOA_CHECK_OK(session.storage().link(session.asker(), {.id = id, .parent = to.parent, .name = to.name}));
  return {};
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_mkdir(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t mode) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    STOA_TRY(place, find_name(*session, at, path, kTaken));
    STOA_CHECK_OK(session->storage().mkdir(
        session->asker(), {.parent = place.parent, .name = place.name, .set = {.mode = mode & 07777}}));
    return {};
  });
}

int stoa_rmdir(stoa_fs* fs, stoa_dir* at, const char* path) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    STOA_TRY(place, find_name(*session, at, path, Error{.code = Errc::kInvalid}));
    return session->storage().rmdir(session->asker(), {.parent = place.parent, .name = place.name});
  });
}

int stoa_unlink(stoa_fs* fs, stoa_dir* at, const char* path) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    STOA_TRY(place, find_name(*session, at, path, Error{.code = Errc::kIsDirectory}));
    STOA_CHECK_OK(refuse_slash(place));
    return session->storage().unlink(session->asker(), {.parent = place.parent, .name = place.name});
  });
}

int stoa_mknod(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t mode, uint32_t major, uint32_t minor) {
  return c_status([&]() -> Status {
    STOA_TRY(type, type_to_make(mode));
    STOA_TRY(session, fs->session());
    STOA_TRY(place, find_name(*session, at, path, kTaken));
    STOA_CHECK_OK(refuse_slash(place));
    const core::SetAttributes set{.mode = mode & 07777};
    if (type == core::FileType::kRegular) {
      STOA_CHECK_OK(session->storage().create(
          session->asker(),
          {.parent = place.parent, .name = place.name, .mode = core::CreateMode::kGuarded, .set = set}));
      return {};
    }
    STOA_CHECK_OK(session->storage().mknod(
        session->asker(),
        {.parent = place.parent, .name = place.name, .type = type, .device = {major, minor}, .set = set}));
    return {};
  });
}

int stoa_symlink(stoa_fs* fs, const char* target, stoa_dir* at, const char* path) {
  return c_status([&]() -> Status {
    if (target == nullptr) return fail_errno(EFAULT, "no target");
    STOA_TRY(session, fs->session());
    STOA_TRY(place, find_name(*session, at, path, kTaken));
    STOA_CHECK_OK(refuse_slash(place));
    STOA_CHECK_OK(session->storage().symlink(
        session->asker(), {.parent = place.parent, .name = place.name, .target = target, .set = {.mode = 0777}}));
    return {};
  });
}

int64_t stoa_readlink(stoa_fs* fs, stoa_dir* at, const char* path, char* target, size_t bytes) {
  return c_number([&]() -> Result<std::size_t> {
    STOA_TRY(session, fs->session());
    STOA_TRY(file, find_file(*session, at, path, false));
    if (file.type != core::FileType::kSymlink) return fail(Errc::kInvalid);
    STOA_TRY(text, session->storage().readlink(session->asker(), file.id));
    return text.copy(target, bytes);
  });
}

int stoa_link(stoa_fs* fs, stoa_dir* at, const char* path, stoa_dir* to_at, const char* to_path, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_FOLLOW));
    STOA_TRY(session, fs->session());
    STOA_TRY(file, find_file(*session, at, path, (flags & STOA_FOLLOW) != 0));
    return link_to(*session, file.id, to_at, to_path);
  });
}

int stoa_flink(stoa_file* file, stoa_dir* to_at, const char* to_path) {
  return c_status([&]() -> Status {
    STOA_TRY(session, file->fs.session());
    return link_to(*session, file->id, to_at, to_path);
  });
}

int stoa_rename(stoa_fs* fs, stoa_dir* at, const char* path, stoa_dir* to_at, const char* to_path, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOREPLACE | STOA_EXCHANGE));
    if (flags == (STOA_NOREPLACE | STOA_EXCHANGE)) return fail(Errc::kInvalid);
    STOA_TRY(session, fs->session());
    const Error busy = fail_errno(EBUSY, "no name to move").error();
    STOA_TRY(from, find_name(*session, at, path, busy));
    STOA_TRY(to, find_name(*session, to_at, to_path, busy));
    if (from.must_be_directory || to.must_be_directory) {
      STOA_TRY(moved, session->storage().lookup(session->asker(), from.parent, from.name));
      if (moved.type != core::FileType::kDirectory) return fail(Errc::kNotDirectory);
    }
    return session->storage().rename(session->asker(), {.from_parent = from.parent,
                                                        .from_name = from.name,
                                                        .to_parent = to.parent,
                                                        .to_name = to.name,
                                                        .no_replace = (flags & STOA_NOREPLACE) != 0,
                                                        .exchange = (flags & STOA_EXCHANGE) != 0});
  });
}

#include "frontends/native/lib/opening.h"

#include <cerrno>

#include "frontends/native/lib/open_flags.h"

namespace stoa::native::lib {
namespace {

// Keeps an open, or closes it again. `looks`: whether the file may be read.
Result<std::unique_ptr<stoa_file>> keep(stoa_fs& fs, LibraryFileSystem& session, const StorageOpen& opened, int flags,
                                        bool looks) {
  if (looks) {
    if (const Status may = may_read(session, opened.attr, flags); !may) {
      session.storage().close(session.asker(), opened.open);
      return fail(may.error());
    }
  }
  try {
    return std::make_unique<stoa_file>(fs, opened.attr.id, opened.open, flags);
  } catch (...) {
    session.storage().close(session.asker(), opened.open);
    throw;
  }
}

Result<std::unique_ptr<stoa_file>> open_nameless(stoa_fs& fs, LibraryFileSystem& session, const stoa_dir* at,
                                                 const char* path, int flags, std::uint32_t mode) {
  STOA_TRY(directory, find_file(session, at, path, true));
  if (directory.type != core::FileType::kDirectory) return fail(Errc::kNotDirectory);
  STOA_TRY(opened, session.storage().open(session.asker(), open_request({.parent = directory.id}, flags, mode)));
  return keep(fs, session, opened, flags, false);
}

// What may be opened that is there, and is no link to follow.
Status check_type(core::FileType type) {
  if (type == core::FileType::kDirectory) return fail(Errc::kIsDirectory);
  if (type != core::FileType::kRegular) return fail_errno(ENXIO, "no regular file");
  return {};
}

}  // namespace

core::OpenRequest open_request(const Place& place, int flags, std::uint32_t mode) {
  return {.parent = place.parent,
          .name = place.name,
          .disposition = disposition(flags),
          .access = share_access(flags),
          .set = {.mode = mode & 07777}};
}

Status may_read(LibraryFileSystem& session, const core::Attributes& attr, int flags) {
  if ((flags & O_ACCMODE) == O_WRONLY) return {};
  // Who the user is at the server, and what an ACL says, only the server knows.
  STOA_TRY(granted, session.storage().access(session.asker(), attr.id, core::kAccessRead));
  if ((granted & core::kAccessRead) == 0) return fail(Errc::kAccess);
  return {};
}

// One round trip where the name is a file's; links and directories are looked at when the server has refused them.
Result<std::unique_ptr<stoa_file>> open_path(stoa_fs& fs, const stoa_dir* at, const char* path, int flags,
                                             std::uint32_t mode) {
  STOA_CHECK_OK(check_flags(flags));
  STOA_TRY(session, fs.session());
  if (is_nameless(flags)) return open_nameless(fs, *session, at, path, flags, mode);
  STOA_TRY(found, find_place(*session, at, path));
  Place place = std::move(found);
  const bool exclusive = (flags & O_EXCL) != 0;
  for (int links = 0; links <= kLinksFollowedMax; ++links) {
    if (place.name.empty()) return exclusive ? fail(Errc::kExists) : fail(Errc::kIsDirectory);
    if (place.must_be_directory) {
      if ((flags & O_CREAT) != 0) return fail(Errc::kIsDirectory);
      STOA_TRY(file, find_in(*session, place, true));
      return fail(file.type == core::FileType::kDirectory ? Errc::kIsDirectory : Errc::kNotDirectory);
    }
    auto opened = session->storage().open(session->asker(), open_request(place, flags, mode));
    // Who may make a file may read what is made.
    if (opened) return keep(fs, *session, *opened, flags, (flags & O_CREAT) == 0);
    const Errc why = opened.error().code;
    if (why != Errc::kWrongType && why != Errc::kInvalid && why != Errc::kIsDirectory) return fail(opened.error());
    STOA_TRY(file, session->storage().lookup(session->asker(), place.parent, place.name));
    if (file.type != core::FileType::kSymlink) {
      STOA_CHECK_OK(check_type(file.type));
      return fail(opened.error());
    }
    if ((flags & O_NOFOLLOW) != 0) return fail_errno(ELOOP, "a symbolic link");
    STOA_TRY(next, behind_link(*session, place, file.id));
    place = std::move(next);
  }
  return fail_errno(ELOOP, "symbolic links");
}

Result<std::unique_ptr<stoa_file>> open_id(stoa_fs& fs, core::FileId id, int flags) {
  STOA_TRY(session, fs.session());
  STOA_TRY(opened, session->storage().open(session->asker(), {.id = id, .access = share_access(flags)}));
  return keep(fs, *session, opened, flags, true);
}

}  // namespace stoa::native::lib

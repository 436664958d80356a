// Open directories.
#include <cerrno>
#include <cstring>

#include "frontends/native/lib/attributes.h"
#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/paths.h"

namespace stoa::native::lib {
namespace {

constexpr std::uint32_t kEntriesAtOnce = 1024;

Status fetch(LibraryFileSystem& session, stoa_dir& dir) {
  STOA_TRY(found, session.storage().readdir(
                      session.asker(),
                      {.dir = dir.id, .cookie = dir.cookie, .entries_max = kEntriesAtOnce, .want_attributes = true}));
  if (found.entries.empty() && !found.end) return fail(Errc::kCorrupt, "a directory without entries or end");
  auto piece = std::make_unique<stoa_dir::Piece>();
  piece->entries = std::move(found.entries);
  piece->last = found.end;
  dir.piece = std::move(piece);
  return {};
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_opendir(stoa_fs* fs, stoa_dir* at, const char* path, stoa_dir** dir) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    STOA_TRY(found, find_file(*session, at, path, true));
    if (found.type != core::FileType::kDirectory) return fail(Errc::kNotDirectory);
    *dir = std::make_unique<stoa_dir>(*fs, found.id).release();
    return {};
  });
}

int stoa_closedir(stoa_dir* dir) {
  delete dir;
  return 0;
}

int stoa_readdir(stoa_dir* dir, stoa_entry* entry) {
  return static_cast<int>(c_number([&]() -> Result<int> {
    STOA_TRY(session, dir->fs.session());
    const std::lock_guard lock(dir->mutex);
    for (;;) {
      if (!dir->piece || (dir->piece->next == dir->piece->entries.size() && !dir->piece->last)) {
        STOA_CHECK_OK(fetch(*session, *dir));
      }
      if (dir->piece->next == dir->piece->entries.size()) return 0;
      const core::DirectoryEntry& next = dir->piece->entries[dir->piece->next++];
      dir->cookie = next.cookie;
      if (next.name == "." || next.name == "..") continue;
      if (next.name.size() >= sizeof entry->name) return fail(Errc::kCorrupt, "a name that is too long");
      // Without attributes: it may be gone meanwhile.
      auto attr = next.attr;
      if (!attr) {
        auto found = session->storage().lookup(session->asker(), dir->id, next.name);
        if (!found && found.error().code == Errc::kNotFound) continue;
        if (!found) return fail(found.error());
        attr = *found;
      }
      entry->attributes = to_c(*attr);
      entry->cookie = next.cookie;
      std::memcpy(entry->name, next.name.data(), next.name.size());
      entry->name[next.name.size()] = '\0';
      return 1;
    }
  }));
}

int stoa_seekdir(stoa_dir* dir, uint64_t cookie) {
  return c_status([&]() -> Status {
    const std::lock_guard lock(dir->mutex);
    dir->piece.reset();
    dir->cookie = cookie;
    return {};
  });
}

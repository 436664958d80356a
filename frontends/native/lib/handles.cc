#include "frontends/native/lib/handles.h"

#include <fcntl.h>

#include "frontends/native/lib/open_flags.h"

using stoa::native::lib::LibraryFileSystem;

stoa::Result<LibraryFileSystem*> stoa_fs::session() {
  if (LibraryFileSystem* const made = session_.load(std::memory_order_acquire)) return made;
  const std::lock_guard lock(mutex_);
  if (LibraryFileSystem* const made = session_.load(std::memory_order_acquire)) return made;
  STOA_TRY(session, LibraryFileSystem::connect(options));
  session_.store(session.get(), std::memory_order_release);
  return session.release();
}

stoa::Result<stoa::native::OpenNumber> stoa_file::open(LibraryFileSystem& session) {
  if (const auto number = open_.load(std::memory_order_acquire); number != 0) return number;
  const std::lock_guard lock(open_mutex_);
  if (const auto number = open_.load(std::memory_order_acquire); number != 0) return number;
  STOA_TRY(opened,
           session.storage().open(session.asker(), {.id = id, .access = stoa::native::lib::share_access(flags)}));
  open_.store(opened.open, std::memory_order_release);
  return opened.open;
}

bool stoa_file::reads() const {
  return (flags & O_ACCMODE) != O_WRONLY;
}

bool stoa_file::writes() const {
  return (flags & O_ACCMODE) != O_RDONLY;
}

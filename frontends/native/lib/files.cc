// Open files: content, positions, syncing, ranges.
#include <climits>
#include <cstring>
#include <limits>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/file_locks.h"
#include "frontends/native/lib/flags.h"
#include "frontends/native/lib/opening.h"
#include "frontends/native/lib/transfer.h"

namespace stoa::native::lib {
namespace {

Result<std::size_t> total_bytes(const iovec* buffers, int count) {
  if (count < 0 || count > IOV_MAX) return fail(Errc::kInvalid);
  std::size_t total = 0;
  for (const iovec& buffer : std::span(buffers, static_cast<std::size_t>(count))) {
    if (buffer.iov_len > static_cast<std::size_t>(SSIZE_MAX) - total) return fail(Errc::kInvalid);
    total += buffer.iov_len;
  }
  return total;
}

// Each buffer by itself when it is large, else all in one message.
constexpr std::size_t kGatheredBytesMax = kPayloadBytesMax;

Result<std::size_t> read_vector(stoa_file& file, std::span<const iovec> buffers, std::size_t total,
                                std::uint64_t offset) {
  if (total > kGatheredBytesMax) {
    std::size_t done = 0;
    for (const iovec& buffer : buffers) {
      const auto got = read_at(file, offset + done, {static_cast<std::byte*>(buffer.iov_base), buffer.iov_len});
      if (!got && done == 0) return fail(got.error());
      if (got) done += *got;
      if (!got || *got < buffer.iov_len) break;
    }
    return done;
  }
  std::vector<std::byte> all(total);
  STOA_TRY(got, read_at(file, offset, all));
  std::size_t from = 0;
  for (const iovec& buffer : buffers) {
    const std::size_t length = std::min(buffer.iov_len, got - from);
    if (length != 0) std::memcpy(buffer.iov_base, all.data() + from, length);
    from += length;
  }
  return std::size_t{got};
}

Result<std::size_t> write_vector(stoa_file& file, std::span<const iovec> buffers, std::size_t total,
                                 std::uint64_t offset) {
  if (total > kGatheredBytesMax) {
    std::size_t done = 0;
    for (const iovec& buffer : buffers) {
      const auto put = write_at(file, offset + done, {static_cast<const std::byte*>(buffer.iov_base), buffer.iov_len});
      if (!put && done == 0) return fail(put.error());
      if (put) done += *put;
      if (!put || *put < buffer.iov_len) break;
    }
    return done;
  }
  std::vector<std::byte> all;
  all.reserve(total);
  for (const iovec& buffer : buffers) {
    const auto* const begin = static_cast<const std::byte*>(buffer.iov_base);
    all.insert(all.end(), begin, begin + buffer.iov_len);
  }
  return write_at(file, offset, all);
}

Result<std::uint64_t> new_position(stoa_file& file, std::int64_t offset, int whence) {
  std::int64_t base = 0;
  if (whence == SEEK_CUR) {
    base = static_cast<std::int64_t>(file.position);
  } else if (whence != SEEK_SET) {
    STOA_TRY(session, file.fs.session());
    if (whence == SEEK_DATA || whence == SEEK_HOLE) {
      if (offset < 0) return fail(Errc::kNoMoreData);
      return session->storage().seek(session->asker(),
                                     {.id = file.id,
                                      .offset = static_cast<std::uint64_t>(offset),
                                      .what = whence == SEEK_DATA ? core::SeekWhat::kData : core::SeekWhat::kHole});
    }
    if (whence != SEEK_END) return fail(Errc::kInvalid);
    STOA_TRY(attr, session->storage().getattr(session->asker(), file.id));
    base = static_cast<std::int64_t>(attr.size);
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(base, offset, &sum)) return fail_errno(EOVERFLOW, "position");
  if (sum < 0) return fail(Errc::kInvalid);
  return static_cast<std::uint64_t>(sum);
}

// For the calls on ranges: the session and the open, when the file is open for writing.
struct Writable {
  LibraryFileSystem* session;
  OpenNumber open;
};
Result<Writable> writable(stoa_file& file, std::uint64_t offset, std::uint64_t bytes) {
  if (!file.writes()) return fail_errno(EBADF, "not open for writing");
  if (bytes == 0) return fail(Errc::kInvalid);
  STOA_CHECK_OK(check_range(offset, bytes));
  STOA_TRY(session, file.fs.session());
  STOA_TRY(open, file.open(*session));
  return Writable{session, open};
}

Status sync(stoa_file& file) {
  STOA_TRY(session, file.fs.session());
  STOA_TRY(open, file.open(*session));
  return session->storage().commit(session->asker(), file.id, open);
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_open(stoa_fs* fs, stoa_dir* at, const char* path, int flags, uint32_t mode, stoa_file** file) {
  return c_status([&]() -> Status {
    STOA_TRY(opened, open_path(*fs, at, path, flags, mode));
    *file = opened.release();
    return {};
  });
}

int stoa_close(stoa_file* file) {
  return c_status([&]() -> Status {
    const std::unique_ptr<stoa_file> ends(file);
    if (file->open_here() == 0) return {};  // a child of fork(2) that has not used it
    STOA_TRY(session, file->fs.session());
    give_up_locks(*session, *file);
    const Status told = session->storage().flush(session->asker(), file->id, file->open_here());
    session->storage().close(session->asker(), file->open_here());
    return told;
  });
}

int64_t stoa_pread(stoa_file* file, void* buffer, size_t bytes, uint64_t offset) {
  return c_number([&] { return read_at(*file, offset, {static_cast<std::byte*>(buffer), bytes}); });
}

int64_t stoa_pwrite(stoa_file* file, const void* buffer, size_t bytes, uint64_t offset) {
  return c_number([&] { return write_at(*file, offset, {static_cast<const std::byte*>(buffer), bytes}); });
}

int64_t stoa_preadv(stoa_file* file, const struct iovec* buffers, int count, uint64_t offset) {
  return c_number([&]() -> Result<std::size_t> {
    STOA_TRY(total, total_bytes(buffers, count));
    STOA_CHECK_OK(check_range(offset, total));
    return read_vector(*file, {buffers, static_cast<std::size_t>(count)}, total, offset);
  });
}

int64_t stoa_pwritev(stoa_file* file, const struct iovec* buffers, int count, uint64_t offset) {
  return c_number([&]() -> Result<std::size_t> {
    STOA_TRY(total, total_bytes(buffers, count));
    STOA_CHECK_OK(check_range(offset, total));
    return write_vector(*file, {buffers, static_cast<std::size_t>(count)}, total, offset);
  });
}

int64_t stoa_read(stoa_file* file, void* buffer, size_t bytes) {
  return c_number([&]() -> Result<std::size_t> {
    const std::lock_guard lock(file->mutex);
    STOA_TRY(got, read_at(*file, file->position, {static_cast<std::byte*>(buffer), bytes}));
    file->position += got;
    return std::size_t{got};
  });
}

int64_t stoa_write(stoa_file* file, const void* buffer, size_t bytes) {
  return c_number([&]() -> Result<std::size_t> {
    const std::lock_guard lock(file->mutex);
    STOA_TRY(put, write_at(*file, file->position, {static_cast<const std::byte*>(buffer), bytes}));
    if ((file->flags & O_APPEND) == 0) {
      file->position += put;
    } else if (put != 0) {
      STOA_TRY(end, new_position(*file, 0, SEEK_END));
      file->position = end;
    }
    return std::size_t{put};
  });
}

int64_t stoa_lseek(stoa_file* file, int64_t offset, int whence) {
  return c_number([&]() -> Result<std::uint64_t> {
    const std::lock_guard lock(file->mutex);
    STOA_TRY(position, new_position(*file, offset, whence));
    file->position = position;
    return std::uint64_t{position};
  });
}

int stoa_fsync(stoa_file* file) {
  return c_status([&] { return sync(*file); });
}

int stoa_fdatasync(stoa_file* file) {
  return c_status([&] { return sync(*file); });
}

int stoa_allocate(stoa_file* file, uint64_t offset, uint64_t bytes, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_KEEP_SIZE));
    STOA_TRY(to, writable(*file, offset, bytes));
    return to.session->storage().allocate(
        to.session->asker(),
        {.id = file->id, .offset = offset, .length = bytes, .keep_size = (flags & STOA_KEEP_SIZE) != 0}, to.open);
  });
}

int stoa_zero(stoa_file* file, uint64_t offset, uint64_t bytes, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_KEEP_SIZE));
    STOA_TRY(to, writable(*file, offset, bytes));
    return to.session->storage().zero(
        to.session->asker(),
        {.id = file->id, .offset = offset, .length = bytes, .keep_size = (flags & STOA_KEEP_SIZE) != 0}, to.open);
  });
}

int stoa_punch(stoa_file* file, uint64_t offset, uint64_t bytes) {
  return c_status([&]() -> Status {
    STOA_TRY(to, writable(*file, offset, bytes));
    return to.session->storage().punch(to.session->asker(), {.id = file->id, .offset = offset, .length = bytes},
                                       to.open);
  });
}

int64_t stoa_copy_range(stoa_file* from, uint64_t from_offset, stoa_file* to, uint64_t to_offset, uint64_t bytes) {
  return c_number([&]() -> Result<std::uint64_t> {
    if (&from->fs != &to->fs) return fail(Errc::kCrossDevice);
    if (!from->reads()) return fail_errno(EBADF, "not open for reading");
    if (!to->writes() || (to->flags & O_APPEND) != 0) return fail_errno(EBADF, "not open for writing at an offset");
    STOA_CHECK_OK(check_range(from_offset, bytes));
    STOA_CHECK_OK(check_range(to_offset, bytes));
    STOA_TRY(session, from->fs.session());
    STOA_TRY(from_open, from->open(*session));
    STOA_TRY(to_open, to->open(*session));
    // Copies what there is: a length of 0 would mean all of it to the server.
    STOA_TRY(source, session->storage().getattr(session->asker(), from->id));
    if (from_offset >= source.size || bytes == 0) return std::uint64_t{0};
    const core::CopyRangeRequest request{.from = from->id,
                                         .from_offset = from_offset,
                                         .to = to->id,
                                         .to_offset = to_offset,
                                         .length = std::min(bytes, source.size - from_offset)};
    return session->storage().copy_range(session->asker(), request, from_open, to_open);
  });
}

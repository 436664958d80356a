#include "backends/blob/local/host_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace stoa::blob_local {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr std::uint64_t kAheadBytesMin = 8u << 20;
constexpr std::uint64_t kAheadBytesMax = 64u << 20;
constexpr int kPiecesMax = 64;

std::uint64_t align_down(std::uint64_t value) {
  return value / kDirectAlignment * kDirectAlignment;
}
std::uint64_t align_up(std::uint64_t value) {
  return align_down(value + kDirectAlignment - 1);
}

// Visits the memory of data[skip, skip + length) piece by piece.
template <class Visit>
void for_each_piece(core::ConstBuffers data, std::uint64_t skip, std::uint64_t length, Visit visit) {
  for (const std::span<const std::byte> piece : data) {
    if (length == 0) return;
    if (skip >= piece.size()) {
      skip -= piece.size();
      continue;
    }
    const std::uint64_t take = std::min<std::uint64_t>(piece.size() - skip, length);
    visit(piece.subspan(skip, take));
    skip = 0;
    length -= take;
  }
}

}  // namespace

Result<std::shared_ptr<HostFile>> HostFile::open(const Environment& env, const std::string& path, Open how) {
  const int flags = O_RDWR | O_CLOEXEC | (how == Open::kCreate ? O_CREAT | O_EXCL : 0);
  const int fd = ::open(path.c_str(), flags, kFileMode);
  if (fd < 0) return fail_errno(errno, "open " + path);
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    const int error = errno;
    ::close(fd);
    return fail_errno(error, "fstat " + path);
  }
  return std::shared_ptr<HostFile>(new HostFile(env, path, fd, static_cast<std::uint64_t>(info.st_size)));
}

HostFile::HostFile(const Environment& env, std::string path, int fd, std::uint64_t size)
    : env_(env), path_(std::move(path)), fd_(fd), size_(size), ahead_(size) {}

HostFile::~HostFile() {
  ::close(fd_);
  if (const int direct = direct_fd_.load(); direct >= 0) ::close(direct);
}

Status HostFile::read(std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = env_.io.pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, "read " + path_);
    }
    if (got == 0) {
      std::memset(into.data(), 0, into.size());
      return {};
    }
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

void HostFile::wrote(std::uint64_t end) {
  std::uint64_t size = size_.load(std::memory_order_relaxed);
  while (size < end && !size_.compare_exchange_weak(size, end, std::memory_order_release)) {
  }
  // After the bytes: a sync that began before this line need not have seen them, one that begins later has.
  written_.fetch_add(1, std::memory_order_acq_rel);
}

Status HostFile::write(std::uint64_t offset, core::ConstBuffers data, std::uint64_t total) {
  if (failed()) return fail(Errc::kIo, "an earlier sync of " + path_ + " failed");
  const std::uint64_t begin = align_up(offset);
  const std::uint64_t end = align_down(offset + total);
  if (end > begin && end - begin >= kDirectBytesMin && env_.direct.load(std::memory_order_relaxed)) {
    if (begin > offset) STOA_CHECK_OK(write_buffered(offset, data, 0, begin - offset));
    STOA_CHECK_OK(write_direct(begin, data, begin - offset, end - begin));
    if (end < offset + total) STOA_CHECK_OK(write_buffered(end, data, end - offset, offset + total - end));
  } else {
    STOA_CHECK_OK(write_buffered(offset, data, 0, total));
  }
  return {};
}

Status HostFile::write_buffered(std::uint64_t offset, core::ConstBuffers data, std::uint64_t skip,
                                std::uint64_t length) {
  while (length > 0) {
    std::array<iovec, kPiecesMax> pieces;
    int count = 0;
    for_each_piece(data, skip, length, [&](std::span<const std::byte> piece) {
      if (count == kPiecesMax) return;
      pieces[static_cast<std::size_t>(count++)] = {const_cast<std::byte*>(piece.data()), piece.size()};
    });
    const ssize_t put = env_.io.pwritev(fd_, pieces.data(), count, static_cast<off_t>(offset));
    if (put < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, "write " + path_);
    }
    const auto done = static_cast<std::uint64_t>(put);
    wrote(offset + done);
    env_.metrics.buffered_bytes.add(done);
    offset += done;
    skip += done;
    length -= done;
  }
  return {};
}

int HostFile::direct_fd() {
  const int known = direct_fd_.load(std::memory_order_acquire);
  if (known >= 0) return known;
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT);
  if (fd < 0) return -1;
  int expected = -1;
  if (!direct_fd_.compare_exchange_strong(expected, fd, std::memory_order_acq_rel)) {
    ::close(fd);
    return expected;
  }
  return fd;
}

Status HostFile::write_direct(std::uint64_t offset, core::ConstBuffers data, std::uint64_t skip, std::uint64_t length) {
  const int fd = direct_fd();
  if (fd < 0) {
    env_.direct.store(false, std::memory_order_relaxed);
    return write_buffered(offset, data, skip, length);
  }
  BufferPool::Lease buffer(env_.buffers);
  while (length > 0) {
    const std::uint64_t chunk = std::min<std::uint64_t>(length, kPooledBufferBytes);
    std::span<const std::byte> source;
    bool whole = false;
    for_each_piece(data, skip, chunk, [&](std::span<const std::byte> piece) {
      if (piece.size() == chunk) source = piece, whole = true;
    });
    if (!whole || reinterpret_cast<std::uintptr_t>(source.data()) % kDirectAlignment != 0) {
      std::byte* at = buffer.data();
      for_each_piece(data, skip, chunk, [&](std::span<const std::byte> piece) {
        std::memcpy(at, piece.data(), piece.size());
        at += piece.size();
      });
      source = {buffer.data(), chunk};
    }
    const Status put_done = put(fd, offset, source);
    if (!put_done) {
      if (put_done.error().sys_errno != EINVAL) return put_done;
      // Some file systems accept the flag and refuse the write.
      env_.direct.store(false, std::memory_order_relaxed);
      return write_buffered(offset, data, skip, length);
    }
    env_.metrics.direct_bytes.add(chunk);
    offset += chunk;
    skip += chunk;
    length -= chunk;
  }
  return {};
}

Status HostFile::put(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    const ssize_t done = env_.io.pwritev(fd, &piece, 1, static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, "write " + path_);
    }
    wrote(offset + static_cast<std::uint64_t>(done));
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

Status HostFile::extend(std::uint64_t size) {
  if (this->size() >= size) return {};
  const std::lock_guard lock(grow_mutex_);
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return fail_errno(errno, "fstat " + path_);
  if (static_cast<std::uint64_t>(info.st_size) < size && ::ftruncate(fd_, static_cast<off_t>(size)) != 0) {
    return fail_errno(errno, "truncate " + path_);
  }
  wrote(size);
  return {};
}

void HostFile::allocate_ahead(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = offset + length;
  const std::uint64_t ahead = ahead_.load(std::memory_order_acquire);
  // Only a file that grows at its end: sparse files must not get blocks that are never written.
  if (end <= ahead || offset > ahead + kAheadBytesMin) return;
  const std::unique_lock lock(grow_mutex_);
  if (end <= ahead_.load(std::memory_order_acquire)) return;
  const std::uint64_t step = std::clamp(align_up(end / 4), kAheadBytesMin, kAheadBytesMax);
  const std::uint64_t from = align_down(ahead);
  // Best effort: for want of space the write itself will tell.
  if (env_.io.fallocate(fd_, 0, static_cast<off_t>(from), static_cast<off_t>(align_up(end) + step - from)) != 0) return;
  ahead_.store(align_up(end) + step, std::memory_order_release);
  wrote(align_up(end) + step);
}

Status HostFile::allocate(std::uint64_t offset, std::uint64_t length, bool extend) {
  const int mode = extend ? 0 : FALLOC_FL_KEEP_SIZE;
  while (env_.io.fallocate(fd_, mode, static_cast<off_t>(offset), static_cast<off_t>(length)) != 0) {
    if (errno == EINTR) continue;
    return fail_errno(errno, "allocate " + path_);
  }
  wrote(extend ? offset + length : 0);
  return {};
}

Status HostFile::punch(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t size = this->size();
  if (offset >= size) return {};
  length = std::min(length, size - offset);
  if (env_.io.fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                        static_cast<off_t>(length)) != 0) {
    return fail_errno(errno, "punch " + path_);
  }
  // Space that was taken ahead may be gone; it is taken again when the file grows over it.
  std::uint64_t ahead = ahead_.load(std::memory_order_relaxed);
  while (ahead > offset && offset + length >= ahead && !ahead_.compare_exchange_weak(ahead, offset)) {
  }
  wrote(0);
  return {};
}

Status HostFile::zero(std::uint64_t offset, std::uint64_t length) {
  if (env_.io.fallocate(fd_, FALLOC_FL_ZERO_RANGE, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0) {
    wrote(offset + length);
    return {};
  }
  if (errno != EOPNOTSUPP) return fail_errno(errno, "zero " + path_);
  STOA_CHECK_OK(punch(offset, length));
  return allocate(offset, length, true);
}

Result<std::uint64_t> HostFile::seek(std::uint64_t offset, std::uint64_t end, bool data) {
  const off_t found = ::lseek(fd_, static_cast<off_t>(offset), data ? SEEK_DATA : SEEK_HOLE);
  if (found < 0) {
    // Behind the end of the host file there is nothing but a hole.
    if (errno == ENXIO) return data ? end : offset;
    return fail_errno(errno, "seek " + path_);
  }
  return std::min(static_cast<std::uint64_t>(found), end);
}

Result<std::uint64_t> HostFile::allocated_bytes() {
  constexpr std::uint64_t kStatBlockBytes = 512;
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return fail_errno(errno, "fstat " + path_);
  return static_cast<std::uint64_t>(info.st_blocks) * kStatBlockBytes;
}

Status HostFile::sync_now(bool name_too) {
  int folder = -1;
  if (name_too) {
    const std::string path = path_.substr(0, path_.rfind('/'));
    folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return fail_errno(errno, "open " + path);
  }
  int error = env_.io.fdatasync(fd_) == 0 ? 0 : errno;
  if (folder >= 0) {
    if (error == 0 && env_.io.fsync_directory(folder) != 0) error = errno;
    ::close(folder);
  }
  if (error == 0) return {};
  failed_.store(true, std::memory_order_release);
  const auto failed = fail_errno(error, "sync " + path_);
  log_error("blob", "what was written to a file could not be synced; it takes no more writes",
            {{"error", describe(failed.error())}});
  return failed;
}

Status HostFile::sync() {
  const std::uint64_t wanted = written_.load(std::memory_order_acquire);
  if (synced_.load(std::memory_order_acquire) >= wanted && !failed()) {
    env_.metrics.syncs_skipped.add();
    return {};
  }
  std::unique_lock lock(sync_mutex_);
  while (true) {
    if (failed()) return fail(Errc::kIo, "sync of " + path_ + " failed");
    if (synced_.load(std::memory_order_relaxed) >= wanted) return {};
    if (syncing_) {
      sync_done_.wait(lock);
      continue;
    }
    syncing_ = true;
    const std::uint64_t target = written_.load(std::memory_order_acquire);
    const bool name_too = !name_durable_;
    lock.unlock();
    const Status done = sync_now(name_too);
    env_.metrics.syncs.add();
    lock.lock();
    syncing_ = false;
    if (done) {
      name_durable_ = true;
      synced_.store(target, std::memory_order_release);
    }
    sync_done_.notify_all();
    if (!done) return done;
  }
}

}  // namespace stoa::blob_local

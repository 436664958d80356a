#include "appliance/data_folder/folder_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace stoa::appliance {
namespace {

// Locks of the open file description (fcntl(2)): they survive a fork, unlike POSIX locks, and can be tested
// without being taken, unlike flock(2).
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

constexpr std::size_t kPidBytes = 20;

pid_t read_pid(int fd) {
  char text[32] = {};
  return pread(fd, text, sizeof text - 1, 0) > 0 ? static_cast<pid_t>(std::strtol(text, nullptr, 10)) : 0;
}

}  // namespace

Result<FolderLock> FolderLock::take(const DataFolder& folder) {
  const int fd = open(folder.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail_errno(errno, "open " + folder.lock());
  FolderLock lock(fd);
  struct flock wanted = whole_file();
  if (fcntl(fd, F_OFD_SETLK, &wanted) != 0) {
    if (errno != EAGAIN && errno != EACCES) return fail_errno(errno, "lock " + folder.lock());
    const pid_t holder = read_pid(fd);
    return fail(Errc::kBusy, "the data folder " + folder.path + " is in use by process " + std::to_string(holder) +
                                 "; stop it first (kill " + std::to_string(holder) +
                                 "), or choose another folder with --data");
  }
  STOA_CHECK_OK(lock.rewrite_pid());
  return lock;
}

Status FolderLock::rewrite_pid() const {
  // Always as long, in the block that it has: on a full disk there is no other.
  std::string text = std::to_string(getpid());
  text.resize(kPidBytes, ' ');
  text += '\n';
  if (pwrite(fd_, text.data(), text.size(), 0) < 0) return fail_errno(errno, "write the lock file");
  return {};
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

Result<std::optional<pid_t>> lock_holder(const DataFolder& folder) {
  const int fd = open(folder.lock().c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::optional<pid_t>{};
    return fail_errno(errno, "open " + folder.lock());
  }
  struct flock probe = whole_file();
  const bool asked = fcntl(fd, F_OFD_GETLK, &probe) == 0;
  const int saved = errno;
  std::optional<pid_t> holder;
  if (asked && probe.l_type != F_UNLCK) holder = read_pid(fd);
  close(fd);
  if (!asked) return fail_errno(saved, "ask about " + folder.lock());
  return holder;
}

}  // namespace stoa::appliance

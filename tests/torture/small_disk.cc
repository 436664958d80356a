#include "tests/torture/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "tests/clients/server_process.h"
#include "tests/torture/scenario.h"

namespace stoa::torture {
namespace fs = std::filesystem;

Result<std::unique_ptr<SmallDisk>> SmallDisk::make(const fs::path& folder, std::uint64_t bytes) {
  // Later mounts go with the last of our processes, however they end.
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return skipped("a small file system cannot be mounted without the right to (CAP_SYS_ADMIN)");
  }
  const fs::path image = folder / "disk.ext4", root = folder / "disk";
  fs::create_directories(root);
  std::string output;
  if (std::FILE* file = std::fopen(image.c_str(), "w");
      file == nullptr || std::fclose(file) != 0 || ::truncate(image.c_str(), static_cast<off_t>(bytes)) != 0) {
    return fail_errno(errno, image);
  }
  if (clients::run_command({"/usr/sbin/mkfs.ext4", "-q", "-m", "0", image}, &output) != 0)
    return skipped("mkfs.ext4: " + output);
  if (clients::run_command({"/usr/bin/mount", "-o", "loop", image, root}, &output) != 0)
    return skipped("mount -o loop: " + output);
  return std::unique_ptr<SmallDisk>(new SmallDisk(root));
}

SmallDisk::~SmallDisk() {
  ::umount2(root_.c_str(), MNT_DETACH);
}

std::uint64_t SmallDisk::free() const {
  struct statvfs info{};
  return ::statvfs(root_.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize : 0;
}

Status SmallDisk::crowd(std::uint64_t leave) {
  const std::uint64_t room = free();
  if (room <= leave) return {};
  const int fd = ::open((root_ / "crowd").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail_errno(errno, "crowd");
  const off_t end = ::lseek(fd, 0, SEEK_END);
  const int error = ::posix_fallocate(fd, end, static_cast<off_t>(room - leave));
  ::close(fd);
  if (error != 0 && error != ENOSPC) return fail_errno(error, "crowd");  // the file's own bookkeeping takes room, too
  return {};
}

void SmallDisk::relieve() {
  fs::remove(root_ / "crowd");
}

}  // namespace stoa::torture

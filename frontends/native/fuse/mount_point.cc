#include "frontends/native/fuse/mount_point.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

namespace stoa::native::fuse {
namespace {

constexpr const char* kHelper = "fusermount3";

Status check_directory(const std::string& directory) {
  struct stat found{};
  if (::stat(directory.c_str(), &found) != 0) {
    return fail(Error{errno == ENOENT ? Errc::kNotFound : Errc::kInvalid, 0,
                      directory + " cannot be mounted on: " + std::strerror(errno) +
                          "; make the directory, or unmount what hangs there"});
  }
  if (!S_ISDIR(found.st_mode)) return fail(Errc::kNotDirectory, directory + " is no directory; mount on one");
  return {};
}

// Runs the helper; `extra_fd` is inherited, too. Its exit code, or -1.
int run_helper(std::vector<std::string> words, int extra_fd) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string variable = std::to_string(extra_fd);
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (extra_fd >= 0) {
      ::fcntl(extra_fd, F_SETFD, 0);
      ::setenv("_FUSE_COMMFD", variable.c_str(), 1);
    }
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The one descriptor that the helper sends.
OwnedFd receive_fd(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return OwnedFd{};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
  return OwnedFd(fd);
}

std::string helper_failure(int code, const std::string& directory) {
  if (code == 127) {
    return "mounting " + directory +
           " needs the superuser or fusermount3, which is not installed; install fuse3, or "
           "run this as root";
  }
  return "fusermount3 refused to mount " + directory + " and said why above; see fusermount3(1)";
}

Result<OwnedFd> mount_by_helper(const MountPoint& at) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return fail_errno(errno, "socketpair");
  const OwnedFd ours(ends[0]);
  OwnedFd theirs(ends[1]);
  // A comma would begin another option.
  std::string source;
  for (const char c : at.source) source += (c == ',' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  std::string options = "fsname=" + source + ",subtype=stoa";
  if (at.read_only) options += ",ro";
  if (at.no_programs) options += ",noexec";
  const int code = run_helper({kHelper, "-o", options, "--", at.directory}, theirs.get());
  theirs = OwnedFd{};
  if (code != 0) return fail(Errc::kAccess, helper_failure(code, at.directory));
  OwnedFd fd = receive_fd(ours.get());
  if (!fd) return fail(Errc::kIo, "fusermount3 gave no descriptor for " + at.directory + "; mount again");
  return fd;
}

// The options are those of mount.fuse3(8). An errno, or 0.
int mount_by_system(const MountPoint& at, int fd) {
  std::string options = "fd=" + std::to_string(fd) + ",rootmode=40000,user_id=" + std::to_string(::getuid()) +
                        ",group_id=" + std::to_string(::getgid());
  if (at.for_all_users) options += ",allow_other";
  unsigned long flags = MS_NODEV | MS_NOSUID;
  if (at.read_only) flags |= MS_RDONLY;
  if (at.no_programs) flags |= MS_NOEXEC;
  return ::mount(at.source.c_str(), at.directory.c_str(), "fuse.stoa", flags, options.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<OwnedFd> mount_fuse(const MountPoint& at) {
  STOA_CHECK_OK(check_directory(at.directory));
  OwnedFd fd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fd) {
    const int error = errno;
    if (error == ENOENT || error == ENODEV || error == ENXIO) {
      return fail(Errc::kNotSupported, "there is no /dev/fuse; load the kernel module: modprobe fuse");
    }
    if (error != EACCES && error != EPERM) return fail_errno(error, "opening /dev/fuse");
    return mount_by_helper(at);
  }
  const int error = mount_by_system(at, fd.get());
  if (error == 0) return fd;
  if (error == EPERM) return mount_by_helper(at);
  return fail(Error{
      Errc::kIo, 0,
      "mounting on " + at.directory + " failed: " + std::strerror(error) + "; see the kernel's messages (dmesg)"});
}

void raise_read_ahead(const std::string& directory) {
  constexpr std::string_view kKilobytes = "1024";  // one request
  struct statx found{};
  if (::statx(AT_FDCWD, directory.c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &found) != 0) return;
  // Else it is the directory below, as somebody has unmounted it meanwhile.
  if ((found.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0) return;
  const std::string file = "/sys/class/bdi/" + std::to_string(found.stx_dev_major) + ":" +
                           std::to_string(found.stx_dev_minor) + "/read_ahead_kb";
  const OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), kKilobytes.data(), kKilobytes.size()) < 0) return;  // not allowed: it stays as it is
}

Status unmount_fuse(const std::string& directory, bool lazy) {
  if (::umount2(directory.c_str(), (lazy ? MNT_DETACH : 0) | UMOUNT_NOFOLLOW) == 0) return {};
  switch (errno) {
    case EBUSY:
      return fail(Errc::kBusy, directory + " is in use; end the programs that use it (fuser -vm " + directory +
                                   "), or unmount it with --lazy");
    case EINVAL:
    case ENOENT:
      return fail(Errc::kNotFound, "nothing is mounted on " + directory + "; see findmnt -t fuse.stoa");
    case EPERM:
      break;
    default:
      return fail(Error{Errc::kIo, 0, "unmounting " + directory + " failed: " + std::strerror(errno)});
  }
  std::vector<std::string> words{kHelper, "-u"};
  if (lazy) words.emplace_back("-z");
  words.insert(words.end(), {"--", directory});
  const int code = run_helper(std::move(words), -1);
  if (code == 0) return {};
  if (code == 127) return fail(Errc::kAccess, "unmounting needs the superuser or fusermount3; install fuse3");
  return fail(Errc::kBusy, "fusermount3 did not unmount " + directory + " and said why above");
}

}  // namespace stoa::native::fuse

// Files that are open through a mount of `stoa mount`.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/opening.h"

namespace stoa::native::lib {
namespace {

constexpr std::string_view kMountType = "fuse.stoa";

// proc_pid_mountinfo(5) writes some characters as \ and three octal digits.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return i + at < text.size() && text[i + at] >= '0' && text[i + at] <= '7';
    };
    if (text[i] == '\\' && digit(1) && digit(2) && digit(3)) {
      plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

// The number of the mount that a descriptor is on.
Result<std::string> mount_of(int fd) {
  if (::fcntl(fd, F_GETFD) < 0) return fail_errno(errno, "fcntl");
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(fd));
  std::string key, value;
  while (info >> key >> value) {
    if (key == "mnt_id:") return value;
  }
  return fail_errno(ENOTTY, "/proc/self/fdinfo has no mount of it");
}

Result<std::string> url_of(int fd) {
  STOA_TRY(mount, mount_of(fd));
  std::ifstream info("/proc/self/mountinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (!line.starts_with(mount + " ")) continue;
    const std::size_t behind = line.find(" - ");
    if (behind == line.npos) break;
    std::istringstream rest(line.substr(behind + 3));
    std::string type, source;
    if (rest >> type >> source && type == kMountType) return unescaped(source);
    break;
  }
  return fail_errno(ENOTTY, "not on a mount of stoa");
}

// Server and export of a URL: what a file's number belongs to.
std::string_view export_of(std::string_view url) {
  url.remove_prefix(std::min(url.size(), url.find("://") == url.npos ? 0 : url.find("://") + 3));
  const std::size_t host_ends = url.find('/');
  if (host_ends == url.npos) return url;
  url = url.substr(0, url.find('/', host_ends + 1));
  const std::size_t user_ends = url.substr(0, host_ends).rfind('@');
  return user_ends == url.npos ? url : url.substr(user_ends + 1);
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_url_of_fd(int fd, char* url, size_t bytes) {
  return static_cast<int>(c_number([&]() -> Result<std::size_t> {
    STOA_TRY(text, url_of(fd));
    if (text.size() >= bytes) return fail_errno(ERANGE, "the buffer is too small");
    url[text.copy(url, text.size())] = '\0';
    return text.size();
  }));
}

int stoa_of_fd(stoa_fs* fs, int fd, stoa_file** file) {
  return c_status([&]() -> Status {
    STOA_TRY(url, url_of(fd));
    if (export_of(url) != export_of(fs->options.url)) return fail(Errc::kCrossDevice);
    struct stat of_mount{};
    if (::fstat(fd, &of_mount) != 0) return fail_errno(errno, "fstat");
    if (S_ISDIR(of_mount.st_mode)) return fail(Errc::kIsDirectory);
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0) return fail_errno(errno, "fcntl");
    if ((flags & O_PATH) != 0) return fail_errno(EBADF, "opened with O_PATH");
    const int kept = flags & (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC);
    STOA_TRY(opened, open_id(*fs, core::FileId{of_mount.st_ino}, kept));
    *file = opened.release();
    return {};
  });
}

#include "appliance/data_folder/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace stoa::appliance {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return fail_errno(errno, "open " + path);
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t n = read(file.get(), part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, "read " + path);
    if (n == 0) return text;
    text.append(part, static_cast<std::size_t>(n));
    if (text.size() > kSmallFileBytesMax) return fail(Errc::kTooLarge, path + " is larger than 1 MiB");
  }
}

Status write_small_file(const std::string& path, std::string_view text, unsigned mode) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());  // left by a crash, perhaps with another mode
  {
    const Descriptor file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.get() < 0) return fail_errno(errno, "create " + fresh);
    while (!text.empty()) {
      const ssize_t n = write(file.get(), text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno(errno, "write " + fresh);
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    if (fsync(file.get()) != 0) return fail_errno(errno, "sync " + fresh);
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename to " + path);
  return sync_name(path);
}

Status sync_name(const std::string& path) {
  const Descriptor folder(open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || fsync(folder.get()) != 0) return fail_errno(errno, "sync the folder of " + path);
  return {};
}

}  // namespace stoa::appliance

// A small file system of its own, for tests that fill it: a tmpfs, mounted below the test's folder. As root right
// away, else in a user and mount namespace of its own where the kernel allows that (before any thread is started).
#pragma once

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace stoa::test {

class SmallDisk {
 public:
  explicit SmallDisk(std::uint64_t bytes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-disk-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    mounted_ = mount(bytes) || (errno == EPERM && enter_namespace() && mount(bytes));
    if (!mounted_) why_not_ = std::string("no small file system can be mounted here: ") + std::strerror(errno);
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& why_not() const { return why_not_; }
  const std::string& path() const { return path_; }
  std::uint64_t free() const { return std::filesystem::space(path_).available; }

  // A file takes all free space but this many bytes; the space comes back with the next call.
  void fill_but(std::uint64_t left) {
    const std::string path = path_ + "/somebody-elses";
    std::filesystem::remove(path);
    if (free() <= left) return;
    std::ofstream(path).flush();
    std::uint64_t size = free() - left;
    const std::string block(1u << 20, 'x');
    std::ofstream out(path, std::ios::binary);
    for (; size > 0; size -= std::min<std::uint64_t>(size, block.size())) {
      out.write(block.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(size, block.size())));
    }
  }
  void give_back() { std::filesystem::remove(path_ + "/somebody-elses"); }

 private:
  bool mount(std::uint64_t bytes) {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", 0, ("size=" + std::to_string(bytes)).c_str()) == 0;
  }
  static bool enter_namespace() {
    const auto uid = ::getuid();
    const auto gid = ::getgid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
    return true;
  }

  std::string path_;
  std::string why_not_;
  bool mounted_ = false;
};

}  // namespace stoa::test

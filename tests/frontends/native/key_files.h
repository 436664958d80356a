// A key file of a test, which goes with it.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace stoa::test {

class TestKeyFile {
 public:
  explicit TestKeyFile(std::string_view line)
      : path_((std::filesystem::temp_directory_path() / "stoa-key-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());  // mode 0600
    if (fd < 0 || write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
    close(fd);
  }
  ~TestKeyFile() { std::filesystem::remove(path_); }
  TestKeyFile(const TestKeyFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stoa::test

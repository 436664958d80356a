// A native server on a volume in memory, and a session of the library with it.
#pragma once

#include <fcntl.h>

#include <string>
#include <vector>

#include "frontends/native/lib/stoa.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {

class LibraryTest : public NativeTest {
 protected:
  LibraryTest() : key(key_file("host HOSTKEY host-secret\n")), fs(connect()) {}
  ~LibraryTest() override {
    if (fs != nullptr) {
      EXPECT_EQ(stoa_disconnect(fs), 0);
    }
  }

  stoa_fs* connect(const std::string& path = "test") {
    const std::string address = url(path);
    stoa_options wanted{};
    wanted.size = sizeof wanted;
    wanted.url = address.c_str();
    wanted.key_file = key.c_str();
    stoa_fs* made = nullptr;
    EXPECT_EQ(stoa_connect(&wanted, &made), 0);
    return made;
  }
  stoa_file* open(const std::string& path, int flags = O_RDWR | O_CREAT, stoa_fs* with = nullptr) {
    stoa_file* file = nullptr;
    EXPECT_EQ(stoa_open(with == nullptr ? fs : with, nullptr, path.c_str(), flags, 0644, &file), 0) << path;
    return file;
  }
  int open_error(const std::string& path, int flags) {
    stoa_file* file = nullptr;
    const int result = stoa_open(fs, nullptr, path.c_str(), flags, 0644, &file);
    if (result == 0) stoa_close(file);
    return result;
  }
  void put(const std::string& path, const std::string& content) {
    stoa_file* const file = open(path, O_WRONLY | O_CREAT | O_TRUNC);
    EXPECT_EQ(stoa_pwrite(file, content.data(), content.size(), 0), static_cast<std::int64_t>(content.size()));
    EXPECT_EQ(stoa_close(file), 0);
  }
  std::string get(const std::string& path, stoa_fs* with = nullptr) {
    stoa_file* const file = open(path, O_RDONLY, with);
    if (file == nullptr) return {};
    std::string content(3u << 20, '\0');
    const std::int64_t got = stoa_pread(file, content.data(), content.size(), 0);
    EXPECT_GE(got, 0);
    content.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    EXPECT_EQ(stoa_close(file), 0);
    return content;
  }
  int stat(const std::string& path, stoa_attributes* attributes, std::uint32_t flags = 0) {
    return stoa_stat(fs, nullptr, path.c_str(), flags, attributes);
  }
  int stat_error(const std::string& path, std::uint32_t flags = 0) {
    stoa_attributes ignored;
    return stat(path, &ignored, flags);
  }
  int mkdir(const std::string& path) { return stoa_mkdir(fs, nullptr, path.c_str(), 0755); }
  int symlink(const std::string& target, const std::string& path) {
    return stoa_symlink(fs, target.c_str(), nullptr, path.c_str());
  }
  // Bytes that tell where they are.
  static std::string pattern(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i * 7 % 23 + i / 4096 % 3);
    return text;
  }

  const std::string key;
  stoa_fs* fs;
};

}  // namespace stoa::test

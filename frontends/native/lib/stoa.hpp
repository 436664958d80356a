// libstoa for C++17: the calls of <stoa.h>, with handles that end themselves and failures as exceptions.
//
// Each function is the call of <stoa.h> of the same name: its contract is there. Instead of a negative errno it throws
// std::system_error with that errno, and what it finds or opens it returns. Nothing but this header and libstoa.so.1 is
// needed; the C calls work on get() of each handle.
#ifndef STOA_HPP
#define STOA_HPP

#include <stoa.h>

#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace stoa_client {

// The result of a call, which is not negative.
inline std::int64_t check(std::int64_t result, const char* call) {
  if (result < 0) throw std::system_error(static_cast<int>(-result), std::generic_category(), call);
  return result;
}

class Directory {
 public:
  explicit Directory(stoa_dir* dir = nullptr) : dir_(dir) {}
  stoa_dir* get() const { return dir_.get(); }
  // False: the end.
  bool read(stoa_entry& entry) { return check(stoa_readdir(get(), &entry), "stoa_readdir") == 1; }
  void seek(std::uint64_t cookie) { check(stoa_seekdir(get(), cookie), "stoa_seekdir"); }

 private:
  struct End {
    void operator()(stoa_dir* dir) const { (void)stoa_closedir(dir); }
  };
  std::unique_ptr<stoa_dir, End> dir_;
};

// Its end closes it, and tells no errors: close() does.
class File {
 public:
  explicit File(stoa_file* file = nullptr) : file_(file) {}
  stoa_file* get() const { return file_.get(); }
  void close() { check(stoa_close(file_.release()), "stoa_close"); }

  std::size_t pread(void* buffer, std::size_t bytes, std::uint64_t offset) const {
    return static_cast<std::size_t>(check(stoa_pread(get(), buffer, bytes, offset), "stoa_pread"));
  }
  std::size_t pwrite(const void* buffer, std::size_t bytes, std::uint64_t offset) const {
    return static_cast<std::size_t>(check(stoa_pwrite(get(), buffer, bytes, offset), "stoa_pwrite"));
  }
  std::size_t read(void* buffer, std::size_t bytes) const {
    return static_cast<std::size_t>(check(stoa_read(get(), buffer, bytes), "stoa_read"));
  }
  std::size_t write(const void* buffer, std::size_t bytes) const {
    return static_cast<std::size_t>(check(stoa_write(get(), buffer, bytes), "stoa_write"));
  }
  std::uint64_t seek(std::int64_t offset, int whence) const {
    return static_cast<std::uint64_t>(check(stoa_lseek(get(), offset, whence), "stoa_lseek"));
  }
  void sync() const { check(stoa_fsync(get()), "stoa_fsync"); }
  void truncate(std::uint64_t bytes) const { check(stoa_ftruncate(get(), bytes), "stoa_ftruncate"); }
  stoa_attributes stat() const {
    stoa_attributes attributes;
    check(stoa_fstat(get(), &attributes), "stoa_fstat");
    return attributes;
  }

 private:
  struct End {
    void operator()(stoa_file* file) const { (void)stoa_close(file); }
  };
  std::unique_ptr<stoa_file, End> file_;
};

// Outlives its files and directories. Its end tells no errors of writing back: disconnect() does.
class Session {
 public:
  // Empty: as the environment says. The exception has the sentence for people.
  explicit Session(const std::string& url = {}, const std::string& key_file = {}) {
    char why[512] = "";
    stoa_options options{};
    options.size = sizeof options;
    options.url = url.empty() ? nullptr : url.c_str();
    options.key_file = key_file.empty() ? nullptr : key_file.c_str();
    options.why = why;
    options.why_bytes = sizeof why;
    stoa_fs* fs = nullptr;
    check(stoa_connect(&options, &fs), why);
    fs_.reset(fs);
  }
  stoa_fs* get() const { return fs_.get(); }
  void disconnect() { check(stoa_disconnect(fs_.release()), "stoa_disconnect"); }

  File open(const std::string& path, int flags, std::uint32_t mode = 0666, stoa_dir* at = nullptr) const {
    stoa_file* file = nullptr;
    check(stoa_open(get(), at, path.c_str(), flags, mode, &file), "stoa_open");
    return File(file);
  }
  Directory open_directory(const std::string& path, stoa_dir* at = nullptr) const {
    stoa_dir* dir = nullptr;
    check(stoa_opendir(get(), at, path.c_str(), &dir), "stoa_opendir");
    return Directory(dir);
  }
  stoa_attributes stat(const std::string& path, std::uint32_t flags = 0, stoa_dir* at = nullptr) const {
    stoa_attributes attributes;
    check(stoa_stat(get(), at, path.c_str(), flags, &attributes), "stoa_stat");
    return attributes;
  }
  void mkdir(const std::string& path, std::uint32_t mode = 0777, stoa_dir* at = nullptr) const {
    check(stoa_mkdir(get(), at, path.c_str(), mode), "stoa_mkdir");
  }
  void unlink(const std::string& path, stoa_dir* at = nullptr) const {
    check(stoa_unlink(get(), at, path.c_str()), "stoa_unlink");
  }
  void rmdir(const std::string& path, stoa_dir* at = nullptr) const {
    check(stoa_rmdir(get(), at, path.c_str()), "stoa_rmdir");
  }
  void rename(const std::string& path, const std::string& to, std::uint32_t flags = 0) const {
    check(stoa_rename(get(), nullptr, path.c_str(), nullptr, to.c_str(), flags), "stoa_rename");
  }

 private:
  struct End {
    void operator()(stoa_fs* fs) const { (void)stoa_disconnect(fs); }
  };
  std::unique_ptr<stoa_fs, End> fs_;
};

}  // namespace stoa_client

#endif

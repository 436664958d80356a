// Random reads, writes, truncates and memory maps of one file, compared with a copy in memory; in the spirit of fsx.
//   vm_fsx FILE OPERATIONS SEED
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/model/random.h"

namespace {

constexpr std::uint64_t kSizeMax = 200'000;

class Exerciser {
 public:
  Exerciser(const char* path, std::uint64_t seed) : path_(path), random_(seed) { reopen(O_CREAT | O_TRUNC); }
  ~Exerciser() { ::close(fd_); }

  bool step(int number) {
    number_ = number;
    switch (random_.below(8)) {
      case 0:
      case 1:
        return write();
      case 2:
        return read();
      case 3:
        return truncate();
      case 4:
        return map_write();
      case 5:
        return append();
      case 6:
        return random_.percent(30) ? reopen(0) : read();
      default:
        return map_read();
    }
  }

  bool compare_all() { return compare(0, good_.size()); }

 private:
  bool fail(const char* what, std::uint64_t at) {
    std::fprintf(stderr, "fsx: operation %d: %s at %llu: %s\n", number_, what, static_cast<unsigned long long>(at),
                 std::strerror(errno));
    return false;
  }

  bool reopen(int flags) {
    if (fd_ >= 0 && ::close(fd_) != 0) return fail("close", 0);
    fd_ = ::open(path_, O_RDWR | O_CLOEXEC | flags, 0644);
    if (fd_ < 0) std::exit(fail("open", 0) ? 0 : 1);
    return compare_size();
  }

  bool compare_size() {
    struct stat st{};
    if (::fstat(fd_, &st) != 0) return fail("fstat", 0);
    return static_cast<std::uint64_t>(st.st_size) == good_.size() ||
           fail("size", static_cast<std::uint64_t>(st.st_size));
  }

  bool compare(std::uint64_t offset, std::uint64_t length) {
    std::string got(length, '\0');
    std::uint64_t done = 0;
    while (done < length) {
      const ssize_t count = ::pread(fd_, got.data() + done, length - done, static_cast<off_t>(offset + done));
      if (count <= 0) return fail("read", offset + done);
      done += static_cast<std::uint64_t>(count);
    }
    for (std::uint64_t i = 0; i < length; ++i) {
      if (got[i] != good_[offset + i]) return fail("wrong byte", offset + i);
    }
    return true;
  }

  bool read() {
    if (good_.empty()) return true;
    const std::uint64_t offset = random_.below(good_.size());
    return compare(offset, std::min<std::uint64_t>(random_.below(40'000), good_.size() - offset));
  }

  bool write() {
    const std::uint64_t offset = random_.below(std::min<std::uint64_t>(good_.size() + 20'000, kSizeMax));
    const std::string data = random_.bytes(1 + random_.below(30'000));
    if (::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(data.size())) {
      return fail("write", offset);
    }
    if (good_.size() < offset + data.size()) good_.resize(offset + data.size());
    good_.replace(offset, data.size(), data);
    if (random_.percent(10) && ::fsync(fd_) != 0) return fail("fsync", 0);
    return true;
  }

  bool append() {
    if (good_.size() > kSizeMax) return true;
    const int fd = ::open(path_, O_WRONLY | O_APPEND | O_CLOEXEC);
    const std::string data = random_.bytes(1 + random_.below(10'000));
    const bool written = fd >= 0 && ::write(fd, data.data(), data.size()) == static_cast<ssize_t>(data.size());
    if (fd >= 0) ::close(fd);
    good_ += data;
    return written || fail("append", good_.size());
  }

  bool truncate() {
    const std::uint64_t size = random_.percent(20) ? 0 : random_.below(kSizeMax);
    if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return fail("ftruncate", size);
    good_.resize(size);
    return compare_size();
  }

  bool map_write() {
    if (good_.empty()) return true;
    void* map = ::mmap(nullptr, good_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED) return fail("mmap", 0);
    const std::uint64_t offset = random_.below(good_.size());
    const std::string data = random_.bytes(std::min<std::uint64_t>(1 + random_.below(9'000), good_.size() - offset));
    std::memcpy(static_cast<char*>(map) + offset, data.data(), data.size());
    good_.replace(offset, data.size(), data);
    const bool synced = ::msync(map, good_.size(), MS_SYNC) == 0;
    ::munmap(map, good_.size());
    return synced || fail("msync", offset);
  }

  bool map_read() {
    if (good_.empty()) return true;
    void* map = ::mmap(nullptr, good_.size(), PROT_READ, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED) return fail("mmap", 0);
    const bool same = std::memcmp(map, good_.data(), good_.size()) == 0;
    ::munmap(map, good_.size());
    return same || fail("mapped bytes differ", 0);
  }

  const char* path_;
  stoa::model::Random random_;
  int fd_ = -1;
  int number_ = 0;
  std::string good_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FILE OPERATIONS SEED\n", argv[0]);
    return 2;
  }
  Exerciser exerciser(argv[1], std::strtoull(argv[3], nullptr, 0));
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    if (!exerciser.step(i)) return 1;
  }
  return exerciser.compare_all() ? 0 : 1;
}

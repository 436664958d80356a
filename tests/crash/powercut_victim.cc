// A program for the test of the power-cut simulation: executes its arguments in order, and waits to be killed.
//   write FILE TEXT | append FILE TEXT | at FILE OFFSET TEXT | cut FILE SIZE | punch FILE OFFSET LENGTH
//   sync FILE | syncdir DIR | rename A B | unlink FILE | mkdir DIR | big FILE MIB (O_DIRECT)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

int open_file(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC, 0644);
  if (fd < 0) std::abort();
  return fd;
}

void require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc;) {
    const std::string_view verb = argv[i++];
    const char* file = argv[i++];
    if (verb == "write" || verb == "append") {
      const std::string_view text = argv[i++];
      const int fd = open_file(file, O_WRONLY | O_CREAT | (verb == "write" ? O_TRUNC : O_APPEND));
      require(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
      ::close(fd);
    } else if (verb == "at") {
      const off_t offset = std::atoll(argv[i++]);
      const std::string_view text = argv[i++];
      const int fd = open_file(file, O_WRONLY | O_CREAT);
      require(::pwrite(fd, text.data(), text.size(), offset) == static_cast<ssize_t>(text.size()));
      ::close(fd);
    } else if (verb == "cut") {
      const int fd = open_file(file, O_WRONLY);
      require(::ftruncate(fd, std::atoll(argv[i++])) == 0);
      ::close(fd);
    } else if (verb == "punch") {
      const off_t offset = std::atoll(argv[i++]);
      const int fd = open_file(file, O_WRONLY);
      require(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, std::atoll(argv[i++])) == 0);
      ::close(fd);
    } else if (verb == "sync") {
      const int fd = open_file(file, O_WRONLY);
      require(::fdatasync(fd) == 0);
      ::close(fd);
    } else if (verb == "syncdir") {
      const int fd = open_file(file, O_RDONLY | O_DIRECTORY);
      require(::fsync(fd) == 0);
      ::close(fd);
    } else if (verb == "rename") {
      require(::rename(file, argv[i++]) == 0);
    } else if (verb == "unlink") {
      require(::unlink(file) == 0);
    } else if (verb == "mkdir") {
      require(::mkdir(file, 0755) == 0);
    } else if (verb == "big") {
      const std::size_t bytes = std::strtoull(argv[i++], nullptr, 0) << 20;
      const int fd = open_file(file, O_WRONLY | O_CREAT | O_DIRECT);
      void* memory = nullptr;
      require(::posix_memalign(&memory, 4096, bytes) == 0);
      std::memset(memory, 'D', bytes);
      require(::pwrite(fd, memory, bytes, 0) == static_cast<ssize_t>(bytes));
      std::free(memory);
      ::close(fd);
    } else {
      return 2;
    }
  }
  std::puts("DONE");
  std::fflush(stdout);
  for (;;) ::pause();
}

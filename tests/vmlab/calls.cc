// Calls that no shell command makes, on the mounts of a guest: vm_calls CASE FILE
// [THE-SAME-FILE-ON-ANOTHER-MOUNT]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace {

bool check(bool good, const char* what, int line) {
  if (!good) std::fprintf(stderr, "line %d: %s: %s\n", line, what, std::strerror(errno));
  return good;
}
#define EXPECT(condition) \
  if (!check((condition), #condition, __LINE__)) return false

class File {
 public:
  explicit File(const char* path, int flags = O_RDWR | O_CREAT) : fd_(open(path, flags, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

bool fails_with(int error, long result) {
  return result < 0 && errno == error;
}

int lock(int fd, int command, short type, off_t start, off_t length, struct flock* found = nullptr) {
  struct flock wanted{};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = start;
  wanted.l_len = length;
  const int result = fcntl(fd, command, &wanted);
  if (found != nullptr) *found = wanted;
  return result;
}

// Byte ranges of one mount against those of another.
bool locks(const char* path, const char* other) {
  const File mine(path), theirs(other);
  EXPECT(mine >= 0 && theirs >= 0);
  EXPECT(lock(mine, F_SETLK, F_WRLCK, 10, 10) == 0);
  EXPECT(fails_with(EAGAIN, lock(theirs, F_SETLK, F_WRLCK, 15, 1)));
  EXPECT(fails_with(EAGAIN, lock(theirs, F_SETLK, F_RDLCK, 0, 0)));
  struct flock found{};
  EXPECT(lock(theirs, F_GETLK, F_WRLCK, 0, 100, &found) == 0);
  EXPECT(found.l_type == F_WRLCK && found.l_start == 10 && found.l_len == 10);
  EXPECT(lock(theirs, F_SETLK, F_WRLCK, 20, 0) == 0);
  EXPECT(fails_with(EAGAIN, lock(mine, F_SETLK, F_RDLCK, 1'000'000, 1)));
  // In the middle of it, then down to shared: both may.
  EXPECT(lock(mine, F_SETLK, F_UNLCK, 12, 3) == 0);
  EXPECT(lock(theirs, F_SETLK, F_WRLCK, 12, 3) == 0);
  EXPECT(lock(mine, F_SETLK, F_RDLCK, 15, 5) == 0);
  EXPECT(lock(theirs, F_SETLK, F_RDLCK, 15, 5) == 0);
  EXPECT(fails_with(EAGAIN, lock(mine, F_SETLK, F_WRLCK, 15, 5)));
  // A waiter gets it when the other releases it.
  EXPECT(lock(theirs, F_SETLK, F_UNLCK, 0, 0) == 0);
  EXPECT(lock(mine, F_SETLKW, F_WRLCK, 0, 0) == 0);
  return true;
}

// A waiter on one mount gets the range that another mount unlocks; a cycle of two waiters is refused.
bool waits(const char* path, const char* other) {
  const File mine(path), theirs(other);
  EXPECT(mine >= 0 && theirs >= 0);
  EXPECT(lock(mine, F_SETLK, F_WRLCK, 0, 10) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const File again(other);
    const bool got = lock(again, F_SETLKW, F_WRLCK, 5, 10) == 0 && lock(again, F_SETLK, F_UNLCK, 0, 0) == 0;
    _exit(got ? 0 : 1);
  }
  EXPECT(child > 0);
  sleep(2);  // so that it waits; when it does not yet, it has less to show
  EXPECT(lock(mine, F_SETLK, F_UNLCK, 0, 0) == 0);
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  // One that is interrupted has nothing.
  EXPECT(lock(mine, F_SETLK, F_WRLCK, 0, 10) == 0);
  const pid_t impatient = fork();
  if (impatient == 0) {
    const File again(other);
    alarm(2);
    lock(again, F_SETLKW, F_WRLCK, 0, 10);
    _exit(0);
  }
  EXPECT(impatient > 0);
  EXPECT(waitpid(impatient, &status, 0) == impatient && WIFSIGNALED(status));
  EXPECT(lock(mine, F_SETLK, F_UNLCK, 0, 0) == 0);
  EXPECT(lock(mine, F_SETLKW, F_WRLCK, 0, 0) == 0);
  return true;
}

bool xattrs(const char* path, const char*) {
  const File file(path);
  char value[64];
  EXPECT(setxattr(path, "user.color", "green", 5, XATTR_CREATE) == 0);
  EXPECT(fails_with(EEXIST, setxattr(path, "user.color", "red", 3, XATTR_CREATE)));
  EXPECT(fails_with(ENODATA, setxattr(path, "user.size", "1", 1, XATTR_REPLACE)));
  EXPECT(setxattr(path, "user.color", "blue", 4, XATTR_REPLACE) == 0);
  EXPECT(setxattr(path, "user.empty", "", 0, 0) == 0);
  EXPECT(getxattr(path, "user.color", value, sizeof value) == 4 && std::memcmp(value, "blue", 4) == 0);
  EXPECT(fails_with(ERANGE, getxattr(path, "user.color", value, 3)));
  char list[256];
  const ssize_t length = listxattr(path, list, sizeof list);
  EXPECT(length > 0);
  const std::string_view names(list, static_cast<std::size_t>(length));
  EXPECT(names.find(std::string_view("user.color\0", 11)) != names.npos && names.find("user.empty") != names.npos);
  EXPECT(removexattr(path, "user.color") == 0);
  EXPECT(fails_with(ENODATA, getxattr(path, "user.color", value, sizeof value)));
  EXPECT(fails_with(ENODATA, removexattr(path, "user.color")));
  return true;
}

bool holes(const char* path, const char*) {
  const File file(path);
  const std::string data(256 << 10, 'x');
  EXPECT(pwrite(file, data.data(), data.size(), 0) == static_cast<ssize_t>(data.size()));
  EXPECT(fallocate(file, 0, 1 << 20, 64 << 10) == 0);
  EXPECT(lseek(file, 0, SEEK_END) == (1 << 20) + (64 << 10));
  EXPECT(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 64 << 10, 64 << 10) == 0);
  EXPECT(lseek(file, 0, SEEK_HOLE) == 64 << 10);
  EXPECT(lseek(file, 64 << 10, SEEK_DATA) == 128 << 10);
  EXPECT(lseek(file, 0, SEEK_END) == (1 << 20) + (64 << 10));
  EXPECT(fails_with(ENXIO, lseek(file, 2 << 20, SEEK_DATA)));
  std::string read(256 << 10, '?');
  EXPECT(pread(file, read.data(), read.size(), 0) == static_cast<ssize_t>(read.size()));
  EXPECT(read == std::string(64 << 10, 'x') + std::string(64 << 10, '\0') + std::string(128 << 10, 'x'));
  return true;
}

// Written through a mapping here, read there after close.
bool mapped(const char* path, const char* other) {
  {
    const File file(path);
    EXPECT(ftruncate(file, 100'000) == 0);
    auto* bytes = static_cast<char*>(mmap(nullptr, 100'000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    EXPECT(bytes != MAP_FAILED);
    for (int i = 0; i < 100'000; ++i) bytes[i] = static_cast<char>('a' + i % 26);
    EXPECT(msync(bytes, 100'000, MS_SYNC) == 0);
    EXPECT(munmap(bytes, 100'000) == 0);
  }
  const File file(other, O_RDONLY);
  auto* bytes = static_cast<char*>(mmap(nullptr, 100'000, PROT_READ, MAP_SHARED, file, 0));
  EXPECT(bytes != MAP_FAILED);
  for (int i = 0; i < 100'000; ++i) EXPECT(bytes[i] == static_cast<char>('a' + i % 26));
  return munmap(bytes, 100'000) == 0;
}

// Longer than the server's copies while a request waits: in one piece only when it goes on behind the answer.
bool copied(const char* path, const char* other) {
  constexpr off_t kBytes = 24 << 20;
  constexpr off_t kMarks[] = {0, (16 << 20) - 3, kBytes - 6};
  const std::string to = std::string(path) + ".copy";
  {
    const File from(path), into(to.c_str());
    EXPECT(ftruncate(from, kBytes) == 0);
    for (const off_t mark : kMarks) EXPECT(pwrite(from, "marked", 6, mark) == 6);
    EXPECT(fsync(from) == 0);
    EXPECT(copy_file_range(from, nullptr, into, nullptr, kBytes, 0) == kBytes);
  }
  const File seen((std::string(other) + ".copy").c_str(), O_RDONLY);
  EXPECT(lseek(seen, 0, SEEK_END) == kBytes);
  char bytes[6];
  for (const off_t mark : kMarks) EXPECT(pread(seen, bytes, 6, mark) == 6 && std::memcmp(bytes, "marked", 6) == 0);
  return true;
}

// Holds bytes 10 to 19 from before `until`.held is there to when `until` is.
bool hold(const char* path, const char* until) {
  const File file(path);
  EXPECT(lock(file, F_SETLK, F_WRLCK, 10, 10) == 0);
  EXPECT(File((std::string(until) + ".held").c_str()) >= 0);
  while (access(until, F_OK) != 0) usleep(100'000);
  struct flock found{};
  EXPECT(lock(file, F_GETLK, F_WRLCK, 0, 0, &found) == 0);
  return found.l_type == F_UNLCK;
}

// A range held by another machine (see `hold`) is refused here, and nothing else.
bool refused(const char* path, const char*) {
  const File file(path);
  EXPECT(fails_with(EAGAIN, lock(file, F_SETLK, F_WRLCK, 15, 1)));
  EXPECT(fails_with(EAGAIN, lock(file, F_SETLK, F_RDLCK, 0, 0)));
  struct flock found{};
  EXPECT(lock(file, F_GETLK, F_WRLCK, 0, 0, &found) == 0);
  EXPECT(found.l_type == F_WRLCK && found.l_start == 10 && found.l_len == 10);
  EXPECT(lock(file, F_SETLK, F_WRLCK, 20, 100) == 0);
  EXPECT(lock(file, F_SETLK, F_RDLCK, 0, 10) == 0);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 2 ? argv[1] : "";
  const struct {
    std::string_view name;
    bool (*run)(const char*, const char*);
  } cases[] = {{"locks", locks},   {"waits", waits},   {"xattrs", xattrs}, {"holes", holes},
               {"mapped", mapped}, {"copied", copied}, {"hold", hold},     {"refused", refused}};
  for (const auto& one : cases) {
    if (one.name == wanted) return one.run(argv[2], argc > 3 ? argv[3] : argv[2]) ? 0 : 1;
  }
  std::fprintf(stderr, "vm_calls: no case '%s'\n", argc > 1 ? argv[1] : "");
  return 2;
}

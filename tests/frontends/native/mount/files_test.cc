// Open files, content, mappings and locks through a mount.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "frontends/native/fuse/owned_fd.h"
#include "tests/frontends/native/mount/served_mounts.h"

namespace stoa::native::mount {
namespace {

using fuse::OwnedFd;

class MountFiles : public ServedMounts {
 protected:
  static OwnedFd open(const std::string& path, int flags, mode_t mode = 0644) {
    return OwnedFd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  }
  static std::string read_all(int fd, off_t from = 0) {
    std::string text(1 << 16, '?');
    const ssize_t got = ::pread(fd, text.data(), text.size(), from);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return got < 0 ? "errno " + std::to_string(errno) : text;
  }
  static int errno_of(long result) { return result < 0 ? errno : 0; }
  static int set_lock(int fd, short type, off_t start, off_t length, int command = F_SETLK) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = start;
    lock.l_len = length;
    return errno_of(::fcntl(fd, command, &lock));
  }
};

TEST_F(MountFiles, BytesWrittenHereAreReadThereAtOnce) {
  const OwnedFd here = open(a() + "/file", O_CREAT | O_RDWR), there = open(b() + "/file", O_RDWR);
  ASSERT_TRUE(here);
  ASSERT_TRUE(there);
  EXPECT_EQ(read_all(there.get()), "");
  std::string text;
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::string part(1 + random() % 300, static_cast<char>('a' + i % 26));
    const std::size_t at = random() % 4000;
    if (text.size() < at + part.size()) text.resize(at + part.size());
    text.replace(at, part.size(), part);
    const int from = i % 2 == 0 ? here.get() : there.get(), to = i % 2 == 0 ? there.get() : here.get();
    ASSERT_EQ(::pwrite(from, part.data(), part.size(), static_cast<off_t>(at)), static_cast<ssize_t>(part.size()));
    ASSERT_EQ(read_all(to), text) << i;
  }
  EXPECT_EQ(errno_of(::fsync(here.get())), 0);
  EXPECT_EQ(errno_of(::fdatasync(there.get())), 0);
}

TEST_F(MountFiles, RequestsOfAMegabyteAndAByteMoreKeepTheirBytes) {
  std::string large((1 << 20) * 3 + 1, '\0');
  std::mt19937 random(2);
  for (char& c : large) c = static_cast<char>(random());
  const OwnedFd file = open(a() + "/large", O_CREAT | O_RDWR);
  ASSERT_EQ(::write(file.get(), large.data(), large.size()), static_cast<ssize_t>(large.size()));
  std::string back(large.size() + 10, '\0');
  const OwnedFd there = open(b() + "/large", O_RDONLY);
  std::size_t got = 0;
  for (ssize_t more = 1; more > 0;) {
    more = ::pread(there.get(), back.data() + got, back.size() - got, static_cast<off_t>(got));
    ASSERT_GE(more, 0);
    got += static_cast<std::size_t>(more);
  }
  back.resize(got);
  EXPECT_TRUE(back == large);
}

TEST_F(MountFiles, OpenFlagsDoWhatTheySay) {
  const std::string path = a() + "/file";
  EXPECT_EQ(errno_of(::open(path.c_str(), O_RDONLY)), ENOENT);
  {
    ASSERT_TRUE(open(path, O_CREAT | O_EXCL | O_WRONLY));
  }
  EXPECT_EQ(errno_of(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600)), EEXIST);
  const OwnedFd file = open(path, O_RDWR);
  ASSERT_EQ(::write(file.get(), "12345", 5), 5);
  {
    ASSERT_TRUE(open(b() + "/file", O_WRONLY | O_TRUNC));
  }
  EXPECT_EQ(read_all(file.get()), "");
  const OwnedFd one = open(path, O_WRONLY | O_APPEND), two = open(b() + "/file", O_WRONLY | O_APPEND);
  ASSERT_EQ(::write(one.get(), "1", 1), 1);
  ASSERT_EQ(::write(two.get(), "2", 1), 1);
  ASSERT_EQ(::write(one.get(), "3", 1), 1);
  EXPECT_EQ(read_all(file.get()), "123");
  EXPECT_EQ(errno_of(::open(a().c_str(), O_WRONLY)), EISDIR);
  EXPECT_EQ(errno_of(::open((path + "/x").c_str(), O_RDONLY)), ENOTDIR);
}

TEST_F(MountFiles, AFileWithoutANameLivesUntilItIsClosed) {
  const std::string path = a() + "/file";
  const OwnedFd file = open(path, O_CREAT | O_RDWR);
  ASSERT_EQ(::write(file.get(), "kept", 4), 4);
  ASSERT_EQ(errno_of(::unlink((b() + "/file").c_str())), 0);
  EXPECT_EQ(errno_of(::open(path.c_str(), O_RDONLY)), ENOENT);
  EXPECT_EQ(read_all(file.get()), "kept");
  EXPECT_EQ(::pwrite(file.get(), "more", 4, 4), 4);
  EXPECT_EQ(errno_of(::ftruncate(file.get(), 6)), 0);
  struct stat seen{};
  ASSERT_EQ(errno_of(::fstat(file.get(), &seen)), 0);
  EXPECT_EQ(seen.st_size, 6);
  EXPECT_EQ(seen.st_nlink, 0u);
}

TEST_F(MountFiles, AnOpenFileWorksForItsOpenerWhateverTheModeIs) {
  ASSERT_EQ(errno_of(::chmod(a().c_str(), 0777)), 0);
  EXPECT_EQ(as_user(1000, 1000, {},
                    [&] {
                      const OwnedFd file = open(a() + "/mine", O_CREAT | O_RDWR, 0);
                      if (!file || ::write(file.get(), "abc", 3) != 3) return errno;
                      if (::ftruncate(file.get(), 2) != 0) return errno;
                      return read_all(file.get()) == "ab" ? 0 : 1;
                    }),
            0);
  EXPECT_EQ(as_user(1001, 1001, {}, [&] { return errno_of(::open((a() + "/mine").c_str(), O_RDONLY)); }), EACCES);
}

TEST_F(MountFiles, SharedMappingsAreWrittenBackAndReadFilesAsTheyAre) {
  const OwnedFd file = open(a() + "/file", O_CREAT | O_RDWR);
  ASSERT_EQ(errno_of(::ftruncate(file.get(), 8192)), 0);
  void* memory = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  ASSERT_NE(memory, MAP_FAILED) << errno;
  auto* bytes = static_cast<char*>(memory);
  bytes[0] = 'x';
  bytes[8191] = 'y';
  ASSERT_EQ(errno_of(::msync(memory, 8192, MS_SYNC)), 0);
  const OwnedFd there = open(b() + "/file", O_RDWR);
  std::string seen = read_all(there.get());
  ASSERT_EQ(seen.size(), 8192u);
  EXPECT_EQ(seen[0], 'x');
  EXPECT_EQ(seen[8191], 'y');
  ASSERT_EQ(::pwrite(file.get(), "z", 1, 100), 1);  // write(2) and the mapping of one mount agree
  EXPECT_EQ(bytes[100], 'z');
  bytes[101] = 'w';
  EXPECT_EQ(read_all(file.get())[101], 'w');
  ::munmap(memory, 8192);
}

TEST_F(MountFiles, HolesPunchesAllocationAndCopiesWork) {
  const OwnedFd file = open(a() + "/sparse", O_CREAT | O_RDWR);
  const std::string block(65536, 'd');
  ASSERT_EQ(::pwrite(file.get(), block.data(), block.size(), 1 << 20), static_cast<ssize_t>(block.size()));
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_DATA) / 65536, (1 << 20) / 65536);
  EXPECT_EQ(::lseek(file.get(), 1 << 20, SEEK_HOLE), (1 << 20) + 65536);
  EXPECT_EQ(errno_of(::lseek(file.get(), 2 << 20, SEEK_DATA)), ENXIO);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), (1 << 20) + 65536);
  EXPECT_EQ(errno_of(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1 << 20, 4096)), 0);
  EXPECT_EQ(read_all(file.get(), 1 << 20).substr(4095, 2), std::string("\0d", 2));
  EXPECT_EQ(errno_of(::fallocate(file.get(), 0, 0, 3 << 20)), 0);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), 3 << 20);
  EXPECT_EQ(errno_of(::fallocate(file.get(), FALLOC_FL_COLLAPSE_RANGE, 0, 4096)), EOPNOTSUPP);
  const OwnedFd copy = open(a() + "/copy", O_CREAT | O_RDWR);
  off_t from = (1 << 20) + 4096, to = 1;
  EXPECT_EQ(::copy_file_range(file.get(), &from, copy.get(), &to, 10, 0), 10);
  EXPECT_EQ(read_all(copy.get()), std::string(1, '\0') + std::string(10, 'd'));
  from = 4 << 20;
  EXPECT_EQ(::copy_file_range(file.get(), &from, copy.get(), &to, 10, 0), 0);
}

TEST_F(MountFiles, SpaceIsReservedAndRangesAreZeroedWithAndWithoutTheSize) {
  const OwnedFd file = open(a() + "/space", O_CREAT | O_RDWR);
  ASSERT_EQ(::write(file.get(), "abcdef", 6), 6);
  EXPECT_EQ(errno_of(::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, 1 << 20)), 0);
  EXPECT_EQ(read_all(file.get()), "abcdef");
  EXPECT_EQ(errno_of(::fallocate(file.get(), FALLOC_FL_ZERO_RANGE, 1, 2)), 0);
  EXPECT_EQ(errno_of(::fallocate(file.get(), FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 5, 100)), 0);
  EXPECT_EQ(read_all(file.get()), std::string("a\0\0de\0", 6));
  EXPECT_EQ(errno_of(::fallocate(file.get(), FALLOC_FL_ZERO_RANGE, 4, 4)), 0);
  EXPECT_EQ(read_all(file.get()), std::string("a\0\0d\0\0\0\0", 8));
}

TEST_F(MountFiles, AFileThatIsMadeWithoutANameGetsOneByALink) {
  const OwnedFd file = open(a(), O_TMPFILE | O_RDWR, 0640);
  if (!file && errno == EOPNOTSUPP) GTEST_SKIP() << "this kernel has no O_TMPFILE over FUSE";
  ASSERT_TRUE(file) << errno;
  ASSERT_EQ(::write(file.get(), "text", 4), 4);
  EXPECT_TRUE(std::filesystem::is_empty(b()));
  const auto link = [&](int fd, const std::string& name) {
    const std::string from = "/proc/self/fd/" + std::to_string(fd);
    return errno_of(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, (a() + name).c_str(), AT_SYMLINK_FOLLOW));
  };
  ASSERT_EQ(link(file.get(), "/named"), 0);
  EXPECT_EQ(link(file.get(), "/named"), EEXIST);
  const OwnedFd there = open(b() + "/named", O_RDONLY);
  EXPECT_EQ(read_all(there.get()), "text");
  struct stat seen{};
  ASSERT_EQ(errno_of(::fstat(there.get(), &seen)), 0);
  EXPECT_EQ(seen.st_nlink, 1u);
  EXPECT_EQ(seen.st_mode & 07777u, 0640u);
  const OwnedFd never = open(a(), O_TMPFILE | O_EXCL | O_WRONLY, 0600);
  ASSERT_TRUE(never);
  EXPECT_EQ(link(never.get(), "/never"), ENOENT);
}

TEST_F(MountFiles, LocksOfOneMountHoldOnTheOther) {
  const OwnedFd here = open(a() + "/file", O_CREAT | O_RDWR);
  ASSERT_EQ(set_lock(here.get(), F_WRLCK, 10, 10), 0);
  const OwnedFd there = open(b() + "/file", O_RDWR);
  EXPECT_EQ(set_lock(there.get(), F_WRLCK, 19, 1), EAGAIN);
  EXPECT_EQ(set_lock(there.get(), F_RDLCK, 0, 0), EAGAIN);
  EXPECT_EQ(set_lock(there.get(), F_WRLCK, 20, 1), 0);
  struct flock asked{};
  asked.l_type = F_RDLCK;
  asked.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(there.get(), F_GETLK, &asked), 0);
  EXPECT_EQ(asked.l_type, F_WRLCK);
  EXPECT_EQ(asked.l_start, 10);
  EXPECT_EQ(asked.l_len, 10);
  // Closing any descriptor of the file ends the locks of the process on that mount.
  {
    ASSERT_TRUE(open(a() + "/file", O_RDONLY));
  }
  EXPECT_EQ(set_lock(there.get(), F_WRLCK, 0, 0), 0);
  EXPECT_EQ(set_lock(there.get(), F_UNLCK, 0, 0), 0);
  ASSERT_EQ(errno_of(::flock(here.get(), LOCK_EX | LOCK_NB)), 0);
  EXPECT_EQ(errno_of(::flock(there.get(), LOCK_SH | LOCK_NB)), EWOULDBLOCK);
  ASSERT_EQ(errno_of(::flock(here.get(), LOCK_SH | LOCK_NB)), 0);
  EXPECT_EQ(errno_of(::flock(there.get(), LOCK_SH | LOCK_NB)), 0);
}

TEST_F(MountFiles, AWaitForALockEndsWithTheLockAndHindersNobody) {
  const OwnedFd here = open(a() + "/file", O_CREAT | O_RDWR);
  ASSERT_EQ(set_lock(here.get(), F_WRLCK, 0, 0), 0);
  std::vector<pid_t> waiting;
  for (int i = 0; i < 20; ++i) {  // more than idle workers
    const pid_t child = ::fork();
    if (child == 0) {
      const OwnedFd file = open((i % 2 == 0 ? a() : b()) + "/file", O_RDWR);
      ::_exit(set_lock(file.get(), F_WRLCK, 0, 0, F_SETLKW));
    }
    waiting.push_back(child);
  }
  EXPECT_EQ(::pwrite(here.get(), "not hindered", 12, 0), 12);
  EXPECT_EQ(set_lock(here.get(), F_UNLCK, 0, 0), 0);
  for (const pid_t child : waiting) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST_F(MountFiles, AWaiterThatIsKilledEndsWhileTheLockIsHeld) {
  const OwnedFd here = open(a() + "/file", O_CREAT | O_RDWR);
  ASSERT_EQ(set_lock(here.get(), F_WRLCK, 0, 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const OwnedFd file = open(a() + "/file", O_RDWR);
    ::_exit(set_lock(file.get(), F_WRLCK, 0, 0, F_SETLKW));
  }
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(set_lock(here.get(), F_WRLCK, 5, 5), 0);
}

// execve(2) closes files under exec_update_lock; the server must not wait for that lock to answer.
TEST_F(MountFiles, ProgramsThatAreRunWithFilesToCloseHangNobody) {
  ASSERT_EQ(errno_of(::chmod(a().c_str(), 0777)), 0);
  const std::string program = a() + "/true";
  std::filesystem::copy_file("/bin/true", program);
  ASSERT_EQ(errno_of(::chmod(program.c_str(), 0755)), 0);
  constexpr int kProcesses = 4, kTimes = 50;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(as_user(1000 + static_cast<unsigned>(i), 1000, {7, 8, 9}, [&] {
        for (int round = 0; round < kTimes; ++round) {
          const pid_t runner = ::fork();
          if (runner == 0) {
            for (int n = 0; n < 4; ++n) {
              const std::string name = a() + "/p" + std::to_string(i) + "-" + std::to_string(n);
              if (::open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600) < 0) ::_exit(2);
            }
            // Threads that open files while this process runs another program.
            for (int n = 0; n < 2; ++n) {
              std::thread([&] {
                for (;;) ::close(::open((a() + "/p" + std::to_string(i) + "-0").c_str(), O_RDONLY | O_CLOEXEC));
              }).detach();
            }
            ::execl(program.c_str(), program.c_str(), nullptr);
            ::_exit(3);
          }
          int status = 0;
          ::waitpid(runner, &status, 0);
          if (status != 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
        }
        return 0;
      }));
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

}  // namespace
}  // namespace stoa::native::mount

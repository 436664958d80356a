// Both transports, on a real mount.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "frontends/native/fuse/kernel_abi.h"
#include "frontends/native/fuse/owned_fd.h"
#include "frontends/native/fuse/processors.h"
#include "tests/frontends/native/fuse/served_device.h"

namespace stoa::native::fuse {
namespace {

using FuseDevice = ServedDevice;

std::vector<char> pattern_of(std::size_t bytes, std::size_t seed) {
  std::vector<char> pattern(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<char>((i * 31 + (i >> 8) + seed) & 0xff);
  return pattern;
}

struct stat status_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << errno;
  return status;
}

// Runs `work` in a process of its own, which a test may leave blocked.
pid_t in_a_process(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

int result_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// Blocks in a read of "stuck". Its exit code: the errno, or 0.
pid_t stuck_reader(const std::string& path) {
  return in_a_process([path] {
    char byte = 0;
    const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return ::read(fd.get(), &byte, 1) < 0 ? errno : 0;
  });
}

pid_t lock_waiter(const std::string& path) {
  return in_a_process([path] {
    const OwnedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock{};
    lock.l_type = F_WRLCK;
    return ::fcntl(fd.get(), F_SETLKW, &lock) < 0 ? errno : 0;
  });
}

TEST_P(FuseDevice, RequestsComeOverTheTransportThatWasAsked) {
  (void)status_of(path("bytes"));
  EXPECT_EQ(status_of(path("uring")).st_size, GetParam() == Transport::kIoUring ? 1 : 0);
}

TEST_P(FuseDevice, BytesOfAwkwardSizesComeBackAsTheyWere) {
  const OwnedFd fd(::open(path("bytes").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(fd);
  constexpr std::size_t kHead = kRequestHeadBytes;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{3}, kHead - 81, kHead - 80, kHead - 79, kHead - 1, kHead,
                                  kHead + 1, std::size_t{65537}, std::size_t{kIoBytes} - 1, std::size_t{kIoBytes},
                                  std::size_t{kIoBytes} + 1, std::size_t{3 * kIoBytes + 7}}) {
    ASSERT_EQ(::ftruncate(fd.get(), 0), 0);
    const auto written = pattern_of(bytes, bytes);
    ASSERT_EQ(::pwrite(fd.get(), written.data(), bytes, 5), static_cast<ssize_t>(bytes));
    std::vector<char> got(bytes + 5);
    ASSERT_EQ(::pread(fd.get(), got.data(), got.size(), 0), static_cast<ssize_t>(bytes + 5)) << bytes;
    EXPECT_TRUE(std::equal(written.begin(), written.end(), got.begin() + 5)) << bytes;
    EXPECT_EQ(::pread(fd.get(), got.data(), 1, static_cast<off_t>(bytes + 5)), 0);
  }
}

TEST_P(FuseDevice, ErrorsArriveAsTheyAre) {
  struct stat status{};
  EXPECT_EQ(::stat(path("nothing").c_str(), &status), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::rmdir(path("bytes").c_str()), -1);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(::stat(path(std::string(256, 'n')).c_str(), &status), -1);
  EXPECT_EQ(errno, ENAMETOOLONG);
}

// The kernel sends a FORGET for what it cannot take from READDIRPLUS, and waits until that is taken.
TEST_P(FuseDevice, AnEntryWithAttributesThatCannotBeIsListed) {
  const pid_t child = in_a_process([this] {
    DIR* const directory = ::opendir(path("").c_str());
    if (directory == nullptr) return 1;
    const dirent* const entry = ::readdir(directory);
    const bool found = entry != nullptr && std::string(entry->d_name) == "impossible";
    ::closedir(directory);
    return found ? 0 : 2;
  });
  EXPECT_EQ(result_of(child), 0);
  EXPECT_EQ(status_of(path("lock")).st_size, 0);
}

TEST_P(FuseDevice, ManyThreadsAtATime) {
  constexpr int kThreads = 16;
  constexpr std::size_t kEach = 4096;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int one = 0; one < kThreads; ++one) {
    threads.emplace_back([&, one] {
      const OwnedFd fd(::open(path("bytes").c_str(), O_RDWR | O_CLOEXEC));
      const off_t at = one * static_cast<off_t>(kEach);
      for (std::size_t round = 0; round < 200; ++round) {
        const auto written = pattern_of(kEach, round + static_cast<std::size_t>(one));
        std::vector<char> got(kEach);
        if (::pwrite(fd.get(), written.data(), kEach, at) != static_cast<ssize_t>(kEach)) ++wrong;
        if (::pread(fd.get(), got.data(), kEach, at) != static_cast<ssize_t>(kEach) || got != written) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(FuseDevice, OthersGoOnWhileRequestsBlock) {
  std::vector<pid_t> readers;
  for (int i = 0; i < 60; ++i) readers.push_back(stuck_reader(path("stuck")));
  wait_for_size("release", 60);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(status_of(path("stuck")).st_size, 1);
  // A signal ends a read that blocks.
  ::kill(readers.back(), SIGTERM);
  EXPECT_EQ(result_of(readers.back()), 255);
  readers.pop_back();
  write_to("release");
  for (const pid_t reader : readers) EXPECT_EQ(result_of(reader), 0);
}

TEST_P(FuseDevice, OthersGoOnWhileLocksAreWaitedFor) {
  std::vector<pid_t> waiters;
  for (int i = 0; i < 40; ++i) waiters.push_back(lock_waiter(path("lock")));
  wait_for_size("lock", 40);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(status_of(path("stuck")).st_size, 1);
  ::kill(waiters.back(), SIGTERM);
  EXPECT_EQ(result_of(waiters.back()), 255);
  waiters.pop_back();
  write_to("release");
  for (const pid_t waiter : waiters) EXPECT_EQ(result_of(waiter), 0);
}

TEST_P(FuseDevice, AnotherDeviceGoesOnUnderLoad) {
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int one = 0; one < 8; ++one) {
    threads.emplace_back([&, one] {
      constexpr std::size_t kEach = 4096;
      const OwnedFd fd(::open(path("bytes").c_str(), O_RDWR | O_CLOEXEC));
      for (std::size_t round = 0; !over; ++round) {
        const auto written = pattern_of(kEach, round + static_cast<std::size_t>(one));
        std::vector<char> got(kEach);
        const off_t at = one * static_cast<off_t>(kEach);
        if (::pwrite(fd.get(), written.data(), kEach, at) != static_cast<ssize_t>(kEach)) ++wrong;
        if (::pread(fd.get(), got.data(), kEach, at) != static_cast<ssize_t>(kEach) || got != written) ++wrong;
      }
    });
  }
  for (int i = 0; i < 6; ++i) EXPECT_EQ(hand_over(), handed());
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  unmount();
  EXPECT_EQ(wait_for_server(), 0);
}

TEST_P(FuseDevice, WhoWaitsForALockWaitsOnAtAnotherDevice) {
  std::vector<pid_t> waiters;
  for (int i = 0; i < 40; ++i) waiters.push_back(lock_waiter(path("lock")));
  wait_for_size("lock", 40);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hand_over(), handed());
  ::kill(waiters.back(), SIGTERM);
  EXPECT_EQ(result_of(waiters.back()), 255);
  waiters.pop_back();
  EXPECT_EQ(hand_over(), handed());
  write_to("release");
  for (const pid_t waiter : waiters) EXPECT_EQ(result_of(waiter), 0);
}

TEST_P(FuseDevice, ARequestThatDoesNotEndKeepsTheDevice) {
  const pid_t reader = stuck_reader(path("stuck"));
  wait_for_size("release", 1);
  EXPECT_EQ(hand_over(std::chrono::milliseconds(300)), 't');
  EXPECT_EQ(status_of(path("stuck")).st_size, 1);
  write_to("release");
  EXPECT_EQ(result_of(reader), 0);
  EXPECT_EQ(hand_over(), handed());
  EXPECT_EQ(status_of(path("stuck")).st_size, 1);
}

TEST_P(FuseDevice, AnUnmountEndsTheServer) {
  (void)status_of(path("bytes"));
  unmount();
  EXPECT_EQ(wait_for_server(), 0);
}

TEST_P(FuseDevice, AnAbortEndsWhatBlocksAndTheServer) {
  std::vector<pid_t> blocked;
  for (int i = 0; i < 20; ++i) blocked.push_back(stuck_reader(path("stuck")));
  for (int i = 0; i < 5; ++i) blocked.push_back(lock_waiter(path("lock")));
  wait_for_size("release", 20);
  wait_for_size("lock", 5);
  unmount(true);
  for (const pid_t one : blocked) EXPECT_NE(result_of(one), 0);
  EXPECT_EQ(wait_for_server(), 0);
}

TEST_P(FuseDevice, AKilledServerLeavesNobodyWaiting) {
  std::vector<pid_t> blocked;
  for (int i = 0; i < 5; ++i) blocked.push_back(stuck_reader(path("stuck")));
  for (int i = 0; i < 5; ++i) blocked.push_back(lock_waiter(path("lock")));
  wait_for_size("release", 5);
  wait_for_size("lock", 5);
  kill_server();
  EXPECT_EQ(wait_for_server(), 255);
  for (const pid_t one : blocked) EXPECT_NE(result_of(one), 0);
  struct stat status{};
  EXPECT_EQ(::stat(path("bytes").c_str(), &status), -1);
  EXPECT_EQ(errno, ENOTCONN);
}

INSTANTIATE_TEST_SUITE_P(Transports, FuseDevice, ::testing::Values(Transport::kDevFuse, Transport::kIoUring),
                         [](const auto& one) { return one.param == Transport::kIoUring ? "IoUring" : "DevFuse"; });

TEST(FuseProcessors, ListsOfTheKernel) {
  using List = std::vector<std::uint32_t>;
  EXPECT_EQ(parse_processors("0"), List{0});
  EXPECT_EQ(parse_processors("0-3,8,10-11"), (List{0, 1, 2, 3, 8, 10, 11}));
  for (const char* wrong : {"", "-", "a", "3-1", "1,", ",1", "0-", "0-99999999", "1 2", "99999999999999999999"}) {
    EXPECT_EQ(parse_processors(wrong), List{}) << wrong;
  }
}

}  // namespace
}  // namespace stoa::native::fuse

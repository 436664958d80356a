// The io_uring queues of one mount, handed from process to process under load.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>

#include "frontends/native/fuse/mount_point.h"
#include "frontends/native/fuse/ring_queues.h"
#include "tests/frontends/native/fuse/stub_file_system.h"
#include "tests/frontends/native/fuse/uring_parameter.h"

namespace stoa::native::fuse {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kNames = 1 << 20;
constexpr std::size_t kMessageBytes = 1 << 16;

// Of all processes.
struct Shared {
  std::array<std::atomic<std::uint8_t>, kNames> looked_up;
};

// Counts how often each name, a number, was looked up.
class CountingFiles : public StubFileSystem {
 public:
  explicit CountingFiles(Shared& shared) : shared_(shared) {}
  Result<Entry> lookup(const Call&, core::FileId, std::string_view name) override {
    std::uint32_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number < kNames) ++shared_.looked_up[number];
    return fail(Errc::kNotFound);
  }

 private:
  Shared& shared_;
};

// Two processes' ends of a talk: the state of queues, or a byte.
class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    here = OwnedFd(ends[0]);
    there = OwnedFd(ends[1]);
  }
  OwnedFd here, there;
};

bool send_state(int socket, const RingState& state, std::span<const int> memories) {
  std::vector<std::byte> bytes;
  const auto add = [&](const auto& list) {
    const std::size_t count = list.size();
    const auto head = std::as_bytes(std::span(&count, 1));
    const auto all = std::as_bytes(std::span(list));
    bytes.insert(bytes.end(), head.begin(), head.end());
    bytes.insert(bytes.end(), all.begin(), all.end());
  };
  add(state.memories);
  add(state.entries);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(memories.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(memories.size_bytes());
  std::memcpy(CMSG_DATA(header), memories.data(), memories.size_bytes());
  return ::sendmsg(socket, &message, 0) > 0;
}

bool receive_state(int socket, RingState& state, std::vector<OwnedFd>& memories) {
  std::vector<std::byte> bytes(kMessageBytes);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(socket, &message, 0) <= 0) return false;
  const std::byte* at = bytes.data();
  const auto take = [&](auto& list) {
    std::size_t count = 0;
    std::memcpy(&count, at, sizeof(count));
    list.resize(count);
    std::memcpy(list.data(), at + sizeof(count), std::as_bytes(std::span(list)).size());
    at += sizeof(count) + std::as_bytes(std::span(list)).size();
  };
  take(state.memories);
  take(state.entries);
  for (std::size_t i = 0; i < state.memories.size(); ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)) + i * sizeof(fd), sizeof(fd));
    memories.emplace_back(fd);
  }
  return true;
}

bool say(const OwnedFd& to, char word) {
  return ::send(to.get(), &word, 1, MSG_NOSIGNAL) == 1;
}
char hear(const OwnedFd& from) {
  char word = 0;
  return ::recv(from.get(), &word, 1, 0) == 1 ? word : 'x';
}

// The parameter of a test: the processors that the queues are told to be running.
class HandedRings : public ::testing::TestWithParam<std::vector<std::uint32_t>> {
 protected:
  static constexpr std::size_t kServers = 5;

  HandedRings() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-rings-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    void* const shared =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    shared_ = static_cast<Shared*>(shared);
  }
  ~HandedRings() override {
    for (const pid_t server : servers_) ::kill(server, SIGKILL);
    for (const pid_t server : servers_) ::waitpid(server, nullptr, 0);
    fd_ = OwnedFd{};
    ::umount2(directory_.c_str(), MNT_DETACH);
    std::filesystem::remove_all(directory_);
    ::munmap(shared_, sizeof(Shared));
  }

  // Forks all servers, the first of which serves then.
  void SetUp() override {
    const UringParameter parameter(true);
    if (!parameter.is_set()) GTEST_SKIP() << "FUSE over io_uring cannot be turned on";
    auto mounted = mount_fuse({.directory = directory_, .source = "stoa-test", .for_all_users = true});
    if (!mounted) GTEST_SKIP() << "no FUSE mount here: " << describe(mounted.error());
    fd_ = std::move(*mounted);
    if (processors().possible < 2) GTEST_SKIP() << "one processor";
    for (std::size_t number = 0; number < kServers; ++number) {
      const pid_t server = ::fork();
      if (server == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::_exit(serve(number));
      }
      servers_.push_back(server);
    }
    fd_ = OwnedFd{};
    for (std::size_t number = 0; number < kServers; ++number) {
      control_[number].there = OwnedFd{};
      next_[number].here = OwnedFd{};
      next_[number].there = OwnedFd{};
    }
    if (hear(control_[0].here) != 'r') GTEST_SKIP() << "the kernel has no FUSE over io_uring";
  }

  // The exit code of a server, or how it failed.
  int serve(std::size_t number) {
    const OwnedFd& control = control_[number].there;
    const OwnedFd& before = next_[number].there;
    // Those of the others end with them.
    for (std::size_t i = 0; i < kServers; ++i) {
      control_[i].here = OwnedFd{};
      if (i != number) control_[i].there = OwnedFd{};
      if (i != number) next_[i].there = OwnedFd{};
      if (i != number + 1) next_[i].here = OwnedFd{};
    }
    const Processors known{.possible = processors().possible, .running = GetParam()};
    CountingFiles files(*shared_);
    Negotiated negotiated{};
    std::unique_ptr<RingQueues> queues;
    std::unique_ptr<Dispatcher> dispatcher;
    if (number == 0) {
      if (!begin(known, negotiated, queues)) return 2;
      dispatcher = std::make_unique<Dispatcher>(files, negotiated);
      queues->start(*dispatcher);
      if (!say(control, 'r')) return 3;
    } else {
      RingState state;
      std::vector<OwnedFd> memories;
      if (!receive_state(before.get(), state, memories)) return 0;
      auto taken = RingQueues::take_over(fd_.get(), state, std::move(memories), known);
      if (!taken) return 4;
      queues = std::move(*taken);
      dispatcher = std::make_unique<Dispatcher>(files, negotiated);
      if (!queues->start_paused(*dispatcher)) return 5;
      if (!say(before, 's')) return 6;
      queues->resume();
    }
    for (;;) {
      const char word = hear(control);
      if (word == 'x') return 0;
      // To the next one; 'f': somebody fails after all was stopped.
      (void)dispatcher->lock_waits().pause(std::chrono::steady_clock::now() + 1s);
      auto fill = RingFill::open(directory_, queues->name_of_fill());
      if (!fill || !queues->pause(**fill, known, std::chrono::steady_clock::now() + 30s)) return 7;
      std::vector<int> memories;
      const RingState state = queues->state(memories);
      if (word == 'f') {
        queues->resume();
        fill->reset();
        queues->end_of_fill();
        dispatcher->lock_waits().resume();
        if (!say(control, 'f')) return 8;
        continue;
      }
      const OwnedFd& after = next_[number + 1].here;
      if (!send_state(after.get(), state, memories) || hear(after) != 's') return 9;
      queues->leave();
      queues->wait();
      queues.reset();
      fd_ = OwnedFd{};
      fill->reset();
      if (!say(control, 'd')) return 10;
      return 0;
    }
  }

  // INIT, as Device::start() does it.
  bool begin(const Processors& known, Negotiated& negotiated, std::unique_ptr<RingQueues>& queues) const {
    std::vector<std::byte> bytes(kRequestBytes);
    fuse_in_header header{};
    fuse_init_in in{};
    if (::read(fd_.get(), bytes.data(), bytes.size()) < static_cast<ssize_t>(sizeof(header) + sizeof(in))) return false;
    std::memcpy(&header, bytes.data(), sizeof(header));
    std::memcpy(&in, bytes.data() + sizeof(header), sizeof(in));
    if (!offers_io_uring(in)) return false;
    auto prepared = RingQueues::prepare(fd_.get(), known);
    const auto agreed = negotiate(in, true);
    if (!prepared || !agreed) return false;
    queues = std::move(*prepared);
    negotiated = agreed->negotiated;
    struct {
      fuse_out_header header;
      fuse_init_out out;
    } reply{{.len = sizeof(reply), .error = 0, .unique = header.unique}, agreed->out};
    return ::write(fd_.get(), &reply, sizeof(reply)) == static_cast<ssize_t>(sizeof(reply));
  }

  // Looks up names that nobody has looked up. `processor`: where; any if it is -1.
  std::thread look_up(int processor) {
    return std::thread([this, processor] {
      cpu_set_t one;
      CPU_ZERO(&one);
      if (processor >= 0) CPU_SET(static_cast<std::size_t>(processor), &one);
      if (processor >= 0) (void)::sched_setaffinity(0, sizeof(one), &one);
      while (!over_) {
        const std::uint32_t number = looked_up_++;
        if (number >= kNames) return;
        struct stat status{};
        if (::stat((directory_ + "/" + std::to_string(number)).c_str(), &status) == 0 || errno != ENOENT) ++wrong_;
      }
    });
  }
  // Each name that was asked for was looked up once.
  void end(std::vector<std::thread>& threads) {
    over_ = true;
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong_, 0);
    std::uint32_t other = 0;
    for (std::uint32_t i = 0; i < std::min(looked_up_.load(), kNames); ++i) other += shared_->looked_up[i] != 1;
    EXPECT_EQ(other, 0u);
  }
  void wait_for_look_ups(std::uint32_t more) const {
    const std::uint32_t before = looked_up_;
    while (looked_up_ < before + more && wrong_ == 0) std::this_thread::sleep_for(100us);
  }

  std::string directory_;
  OwnedFd fd_;
  Shared* shared_ = nullptr;
  std::array<Pipe, kServers> control_, next_;  // next_[n]: from the one before to n
  std::vector<pid_t> servers_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint32_t> looked_up_{0};
  std::atomic<int> wrong_{0};
};

TEST_P(HandedRings, EachRequestIsAnsweredOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) threads.push_back(look_up(static_cast<int>(GetParam()[i % GetParam().size()])));
  for (std::size_t server = 0; server + 1 < kServers; ++server) {
    wait_for_look_ups(100);
    ASSERT_TRUE(say(control_[server].here, 'f'));
    ASSERT_EQ(hear(control_[server].here), 'f');
    wait_for_look_ups(100);
    ASSERT_TRUE(say(control_[server].here, 'h'));
    ASSERT_EQ(hear(control_[server].here), 'd');
  }
  // The last one serves all queues, those that were at rest, too.
  for (std::uint32_t i = 0; i < processors().possible; ++i) threads.push_back(look_up(static_cast<int>(i)));
  wait_for_look_ups(1000);
  end(threads);
}

INSTANTIATE_TEST_SUITE_P(Processors, HandedRings,
                         ::testing::Values(std::vector<std::uint32_t>{0, 1}, std::vector<std::uint32_t>{0}),
                         [](const auto& info) { return info.param.size() == 1 ? "OneAtRest" : "AllRun"; });

}  // namespace
}  // namespace stoa::native::fuse

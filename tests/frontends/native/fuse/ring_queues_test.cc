#include "frontends/native/fuse/ring_queues.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

#include "frontends/native/fuse/mount_point.h"
#include "tests/frontends/native/fuse/uring_parameter.h"

namespace stoa::native::fuse {
namespace {

// A mount whose requests the test reads itself.
class FuseRingQueues : public ::testing::Test {
 protected:
  FuseRingQueues() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-ring-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~FuseRingQueues() override {
    fd_ = OwnedFd{};  // ends the connection, so that nobody waits for it
    ::umount2(directory_.c_str(), MNT_DETACH);
    std::filesystem::remove_all(directory_);
  }

  // The next request; opcode 0: none came.
  fuse_in_header read_request(std::vector<std::byte>& bytes) const {
    bytes.resize(kRequestBytes);
    pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    fuse_in_header header{};
    if (::poll(&ready, 1, 30'000) != 1) return header;
    const ssize_t got = ::read(fd_.get(), bytes.data(), bytes.size());
    if (got >= static_cast<ssize_t>(sizeof(header))) std::memcpy(&header, bytes.data(), sizeof(header));
    return header;
  }
  void reply(const fuse_in_header& to, int error, std::span<const std::byte> body) const {
    fuse_out_header header{
        .len = static_cast<std::uint32_t>(sizeof(fuse_out_header) + body.size()), .error = -error, .unique = to.unique};
    std::vector<std::byte> bytes(header.len);
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::ranges::copy(body, bytes.begin() + sizeof(header));
    EXPECT_EQ(::write(fd_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  std::string directory_;
  OwnedFd fd_;
};

TEST_F(FuseRingQueues, TheKernelGoesOnOverDevFuseWhenTheyAreRenounced) {
  const UringParameter parameter(true);
  if (!parameter.is_set()) GTEST_SKIP() << "FUSE over io_uring cannot be turned on";
  auto mounted = mount_fuse({.directory = directory_, .source = "stoa-test"});
  if (!mounted) GTEST_SKIP() << "no FUSE mount here: " << describe(mounted.error());
  fd_ = std::move(*mounted);
  std::vector<std::byte> bytes;
  const fuse_in_header init = read_request(bytes);
  ASSERT_EQ(init.opcode, static_cast<std::uint32_t>(FUSE_INIT));
  fuse_init_in in{};
  std::memcpy(&in, bytes.data() + sizeof(init), sizeof(in));
  if (!offers_io_uring(in)) GTEST_SKIP() << "the kernel has no FUSE over io_uring";
  auto queues = RingQueues::prepare(fd_.get(), processors());
  ASSERT_TRUE(queues) << describe(queues.error());
  const auto agreed = negotiate(in, true);
  ASSERT_TRUE(agreed);
  reply(init, 0, std::as_bytes(std::span(&agreed->out, 1)));
  (*queues)->renounce();
  (*queues)->renounce();  // once is enough, twice does no harm
  const pid_t child = ::fork();
  if (child == 0) {
    struct stat status{};
    ::_exit(::stat((directory_ + "/name").c_str(), &status) == 0 ? 0 : errno);
  }
  // Without the renouncement the kernel would hold them.
  for (fuse_in_header request = read_request(bytes); request.opcode != 0; request = read_request(bytes)) {
    reply(request, ENOENT, {});
    if (request.opcode == FUSE_LOOKUP) break;
  }
  fd_ = OwnedFd{};  // a child that still waits gets an error
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == ENOENT) << status;
}

TEST(FuseRingQueuesPrepared, NotWithoutProcessors) {
  EXPECT_FALSE(RingQueues::prepare(-1, {}));
  EXPECT_FALSE(RingQueues::prepare(-1, {.possible = 2, .running = {}}));
  EXPECT_FALSE(RingQueues::prepare(-1, {.possible = 70'000, .running = {0}}));
}

// What the old process says is looked at before anything is done with it.
TEST(FuseRingQueuesTaken, AStateThatContradictsItselfIsRefused) {
  const Processors two{.possible = 2, .running = {0, 1}};
  auto first = RingMemory::make(4);
  ASSERT_TRUE(first);
  const OwnedFd fd(::dup((*first)->fd()));
  const RingState::Memory memory{.address = (*first)->address(), .slots = 4};
  first->reset();
  const auto take = [&](const RingState& state, std::size_t descriptors) {
    std::vector<OwnedFd> memories;
    for (std::size_t i = 0; i < descriptors; ++i) memories.emplace_back(::dup(fd.get()));
    const auto taken = RingQueues::take_over(-1, state, std::move(memories), two);
    return taken ? std::optional<Errc>{} : taken.error().code;
  };
  using Entries = std::vector<RingState::Entry>;
  for (const Entries& wrong : {Entries{{.queue = 2}}, Entries{{.memory = 1}}, Entries{{.slot = 4}},
                               Entries{{.slot = 3}, {.queue = 1, .slot = 3}}}) {
    EXPECT_EQ(take({.memories = {memory}, .entries = wrong}, 1), Errc::kInvalid);
  }
  EXPECT_EQ(take({.memories = {memory}}, 0), Errc::kInvalid);
  EXPECT_EQ(take({.memories = {memory}}, 2), Errc::kInvalid);
  EXPECT_EQ(take({.memories = {memory, memory}}, 2), Errc::kBusy);
  EXPECT_FALSE(take({.memories = {memory}, .entries = {{.queue = 1, .slot = 3}, {.slot = 0, .fills = true}}}, 1));
  EXPECT_FALSE(RingQueues::take_over(-1, {}, {}, {}));
}

TEST(FuseRingQueuesTaken, AWaitWithoutItsEntryIsRefused) {
  const auto queues = RingQueues::take_over(-1, {}, {}, {.possible = 1, .running = {0}});
  ASSERT_TRUE(queues) << describe(queues.error());
  const auto channel = (*queues)->channel_of(7);
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, Errc::kInvalid);
}

TEST(FuseRingFill, TellsWhenItsRequestsGoElsewhere) {
  const auto name = RingFill::new_name();
  ASSERT_TRUE(name);
  EXPECT_NE(*name, *RingFill::new_name());
  EXPECT_FALSE(RingFill::open("/no/such/directory", *name));
  const auto fill = RingFill::open(std::filesystem::temp_directory_path().string(), *name);
  ASSERT_TRUE(fill) << describe(fill.error());
  EXPECT_FALSE((*fill)->any_ended());
  const Status beyond = (*fill)->add(60'000);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Errc::kNotSupported);
  EXPECT_FALSE((*fill)->any_ended());
  ASSERT_TRUE((*fill)->add(0));
  while (!(*fill)->any_ended()) std::this_thread::yield();
}

}  // namespace
}  // namespace stoa::native::fuse

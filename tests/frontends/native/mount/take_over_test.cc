// The talk of two processes, each by a thread: who says what, and what happens when one does not.
#include "frontends/native/mount/take_over.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <future>

namespace stoa::native::mount {
namespace {

class Old : public Handing {
 public:
  explicit Old() : fuse(::eventfd(7, EFD_CLOEXEC)) {}
  Status may_hand_over() override { return may; }
  MountOptions options() override { return {.url = "stoa://host/export"}; }
  Result<Handed> stop() override {
    ++stopped;
    if (!stops) return fail(stops.error());
    Handed handed{.descriptors = {fuse.get()}};
    handed.mount.session.session = 77;
    return handed;
  }
  void go_on() override { ++went_on; }
  void left() override { ++was_left; }

  Status may{}, stops{};
  int stopped = 0, went_on = 0, was_left = 0;
  fuse::OwnedFd fuse;
};

class Talk : public ::testing::Test {
 protected:
  Talk() : listener(::eventfd(0, EFD_CLOEXEC)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    mine = fuse::OwnedFd(ends[0]);
    theirs = fuse::OwnedFd(ends[1]);
  }
  // The old process, from what the new one says first.
  std::future<bool> run() {
    return std::async(std::launch::async, [this] {
      std::array<char, 64> wish{};
      const ssize_t got = ::recv(theirs.get(), wish.data(), wish.size(), 0);
      return hand_over(std::string(wish.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))), std::move(theirs),
                       listener.get(), old);
    });
  }
  Old old;
  fuse::OwnedFd listener, mine, theirs;
};

TEST_F(Talk, AllGoesToTheNewProcess) {
  auto handed = run();
  TakeOver fresh(std::move(mine));
  const auto options = fresh.ask();
  ASSERT_TRUE(options) << describe(options.error());
  EXPECT_EQ(options->url, "stoa://host/export");
  EXPECT_EQ(old.stopped, 0);
  const auto taken = fresh.take();
  ASSERT_TRUE(taken) << describe(taken.error());
  EXPECT_EQ(taken->mount.session.session, 77u);
  ASSERT_EQ(taken->descriptors.size(), 1u);
  EXPECT_TRUE(taken->listener);
  eventfd_t value = 0;
  EXPECT_EQ(::eventfd_read(taken->descriptors[0].get(), &value), 0);
  EXPECT_EQ(value, 7u);
  EXPECT_TRUE(fresh.serve());
  EXPECT_TRUE(handed.get());
  EXPECT_EQ(old.was_left, 1);
  EXPECT_EQ(old.went_on, 0);
}

TEST_F(Talk, AnotherVersionStopsNothing) {
  for (const std::string wish : {"replace 0", "replace 1", "replace 3", "replace", "replace -1", "", "take 2"}) {
    fuse::OwnedFd socket(::dup(theirs.get()));
    EXPECT_FALSE(hand_over(wish, std::move(socket), listener.get(), old)) << wish;
    std::array<char, 256> answer{};
    ASSERT_GT(::recv(mine.get(), answer.data(), answer.size(), 0), 0);
    EXPECT_EQ(std::string(answer.data()).substr(0, 3), "no ");
  }
  EXPECT_EQ(old.stopped, 0);
}

TEST_F(Talk, ARefusalIsToldAndStopsNothing) {
  old.may = fail(Errc::kNotSupported, "it cannot be");
  auto handed = run();
  TakeOver fresh(std::move(mine));
  const auto options = fresh.ask();
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().detail.find("it cannot be"), std::string::npos);
  EXPECT_FALSE(handed.get());
  EXPECT_EQ(old.stopped, 0);
}

TEST_F(Talk, WhatDoesNotStopIsTold) {
  old.stops = fail(Errc::kTimeout, "a request of it does not end");
  auto handed = run();
  TakeOver fresh(std::move(mine));
  ASSERT_TRUE(fresh.ask());
  const auto taken = fresh.take();
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().detail.find("does not end"), std::string::npos);
  EXPECT_FALSE(handed.get());
  EXPECT_EQ(old.went_on, 0);  // it never stopped
}

TEST_F(Talk, WhoEndsBeforeAnythingHasStopped) {
  auto handed = run();
  {
    TakeOver fresh(std::move(mine));
    ASSERT_TRUE(fresh.ask());
  }
  EXPECT_FALSE(handed.get());
  EXPECT_EQ(old.stopped, 0);
}

TEST_F(Talk, WhoEndsBeforeItServesLetsTheOldOneGoOn) {
  auto handed = run();
  {
    TakeOver fresh(std::move(mine));
    ASSERT_TRUE(fresh.ask());
    ASSERT_TRUE(fresh.take());
  }
  EXPECT_FALSE(handed.get());
  EXPECT_EQ(old.went_on, 1);
  EXPECT_EQ(old.was_left, 0);
}

TEST_F(Talk, WhoIsLateMustNotServe) {
  auto handed = run();
  TakeOver fresh(fuse::OwnedFd(::dup(mine.get())));
  ASSERT_TRUE(fresh.ask());
  ASSERT_TRUE(fresh.take());
  ASSERT_EQ(::send(mine.get(), "another word", 12, MSG_NOSIGNAL), 12);
  EXPECT_FALSE(handed.get());
  EXPECT_EQ(old.went_on, 1);
  const Status serves = fresh.serve();
  ASSERT_FALSE(serves);
  EXPECT_EQ(serves.error().code, Errc::kShutdown);
}

TEST_F(Talk, AProcessThatSendsReportsOnly) {
  for (int i = 0; i < 4; ++i) ASSERT_GT(::send(theirs.get(), "server x\n", 9, 0), 0);
  TakeOver fresh(std::move(mine));
  const auto options = fresh.ask();
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code, Errc::kNotSupported);
}

}  // namespace
}  // namespace stoa::native::mount

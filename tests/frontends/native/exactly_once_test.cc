// Messages that are sent again: on another connection, and to a server that has started anew.
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeExactlyOnce : public NativeTest {
 protected:
  File root_file() const { return File{static_cast<U64>(exported)}; }
  // Each change, with what has to be there for it.
  std::vector<Bytes> changes() {
    auto& ns = volume->ns();
    const auto id = [&](std::string_view name) {
      return File{static_cast<U64>(ns.lookup({}, {.parent = exported, .name = name})->attr.id)};
    };
    for (const char* name : {"old", "dead", "linked", "set"})
      EXPECT_TRUE(ns.create({}, {.parent = exported, .name = name}));
    EXPECT_TRUE(ns.mkdir({}, {.parent = exported, .name = "empty"}));
    const Settings mode{.which = kSetMode, .mode = 0640};
    return {
        record_of<operations::create>({.parent = root_file(), .mode = kCreateGuarded, .set = mode, .name = "new"}),
        record_of<operations::mkdir>({.parent = root_file(), .set = mode, .name = "newdir"}),
        record_of<operations::symlink>({.parent = root_file(), .name = "newlink", .target = "t"}),
        record_of<operations::mknod>({.parent = root_file(), .type = kFifo, .name = "fifo"}),
        record_of<operations::link>({.file = id("linked"), .parent = root_file(), .name = "second"}),
        record_of<operations::unlink>({.parent = root_file(), .name = "dead"}),
        record_of<operations::rmdir>({.parent = root_file(), .name = "empty"}),
        record_of<operations::rename>(
            {.from_parent = root_file(), .to_parent = root_file(), .from_name = "old", .to_name = "moved"}),
        record_of<operations::setattr>({.file = id("set"), .set = mode}),
        record_of<operations::open>(
            {.parent = root_file(), .open = 1, .disposition = kOpenCreate, .access = kOpenWrite, .name = "opened"})};
  }
};

TEST_F(NativeExactlyOnce, EachChangeSentAgainOnANewConnectionRunsOnce) {
  auto first = raw();
  auto second = raw("0123456789abcdef", first.welcome->session);
  EXPECT_EQ(second.welcome->resumed, 1u);
  U32 sequence = 0;
  for (const Bytes& record : changes()) {
    const Bytes frame = first.frame({.sequence = ++sequence}, record);
    first.send(frame);
    const auto once = first.receive();
    EXPECT_EQ(first_status(once), WireStatus::ok) << sequence;
    const Bytes said(once.operations.begin(), once.operations.end());
    second.send(frame);
    const auto twice = second.receive();
    EXPECT_EQ(Bytes(twice.operations.begin(), twice.operations.end()), said) << sequence;
  }
  EXPECT_EQ(metric("stoa_native_replays_total"), sequence);
}

TEST_F(NativeExactlyOnce, AFailureIsReplayedToo) {
  auto channel = raw();
  const Bytes frame = channel.frame({}, record_of<operations::unlink>({.parent = root_file(), .name = "x"}));
  channel.send(frame);
  EXPECT_EQ(first_status(channel.receive()), WireStatus::not_found);
  ASSERT_TRUE(volume->ns().create({}, {.parent = exported, .name = "x"}));
  channel.send(frame);
  EXPECT_EQ(first_status(channel.receive()), WireStatus::not_found);
  EXPECT_TRUE(volume->ns().lookup({}, {.parent = exported, .name = "x"}));
}

TEST_F(NativeExactlyOnce, WhatOnlyReadsRunsAgain) {
  auto channel = raw();
  const Bytes frame = channel.frame({}, record_of<operations::lookup>({.parent = root_file(), .name = "x"}));
  channel.send(frame);
  EXPECT_EQ(first_status(channel.receive()), WireStatus::not_found);
  ASSERT_TRUE(volume->ns().create({}, {.parent = exported, .name = "x"}));
  channel.send(frame);
  EXPECT_EQ(first_status(channel.receive()), WireStatus::ok);
}

TEST_F(NativeExactlyOnce, EachChangeSentAgainAfterARestartRunsOnce) {
  const std::vector<Bytes> all = changes();
  {
    auto before = raw();
    U32 sequence = 0;
    for (const Bytes& record : all)
      EXPECT_EQ(first_status(before.call({.sequence = ++sequence}, record)), WireStatus::ok) << sequence;
  }
  restart();
  auto after = raw();
  EXPECT_EQ(first_status(after.call({.slot = 9}, record_of<operations::reclaim_done>({}))), WireStatus::ok);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // A client sends only the last message of a slot again; each has one of its own here.
    auto again = raw("0123456789abcdef", after.welcome->session);
    const U32 sequence = static_cast<U32>(i + 1);
    EXPECT_EQ(first_status(again.call({.sequence = sequence}, all[i])), WireStatus::ok) << sequence;
  }
}

TEST_F(NativeExactlyOnce, AnotherClientWithTheSameNumbersIsNotTakenForIt) {
  const Bytes record = record_of<operations::create>({.parent = root_file(), .mode = kCreateGuarded, .name = "new"});
  {
    auto before = raw();
    EXPECT_EQ(first_status(before.call({}, record)), WireStatus::ok);
  }
  restart();
  auto other = raw("fedcba9876543210");
  EXPECT_EQ(first_status(other.call({}, record)), WireStatus::exists);
}

}  // namespace
}  // namespace stoa::test

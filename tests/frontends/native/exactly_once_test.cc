// Messages that are sent again: on another connection, and to a server that has started anew.
#include <set>
#include <thread>

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
    for (const char* name : {"old", "dead", "linked", "set", "left", "right"})
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
        record_of<operations::exchange>(
            {.from_parent = root_file(), .to_parent = root_file(), .from_name = "left", .to_name = "right"}),
        record_of<operations::create_filled>({.parent = root_file(), .mode = kCreateGuarded, .name = "filled"}),
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

// To a small file and to one with content of its own, with each promise: a message, and how long the file is then.
struct AppendMessage {
  Bytes record;
  core::FileId file;
  U64 at;
};

class NativeAppendsOnce : public NativeExactlyOnce {
 protected:
  static constexpr U64 kSizes[] = {0, 30'000};
  std::vector<AppendMessage> appends() {
    std::vector<AppendMessage> all;
    for (const U64 size : kSizes) {
      for (const U32 stable : {0u, 1u, 2u}) {
        const std::string name = std::to_string(size) + "." + std::to_string(stable);
        const auto file = volume->ns().create({}, {.parent = exported, .name = name})->attr.id;
        const std::string before(size, 'b');
        const std::span<const std::byte> data[] = {bytes(before)};
        EXPECT_TRUE(volume->ns().write({}, {.id = file, .offset = 0, .data = data}));
        all.push_back({record_of<operations::append>({.file = File{static_cast<U64>(file)},
                                                      .data_bytes = static_cast<U32>(kData.size()),
                                                      .stable = stable}),
                       file, size});
      }
    }
    return all;
  }
  U64 size_of(core::FileId file) { return volume->ns().getattr({}, {.id = file})->attr.size; }
  static U64 offset_in(const MessageView& reply) {
    std::span<const std::byte> records = reply.operations;
    AppendReply out;
    const auto record = next_record(records);
    return record && read_record(*record, out) ? out.offset : ~U64{0};
  }
  const std::string kData = std::string(20'000, 'a');
};

TEST_F(NativeAppendsOnce, OnANewConnection) {
  auto first = raw();
  auto second = raw("0123456789abcdef", first.welcome->session);
  U32 sequence = 0;
  for (const AppendMessage& one : appends()) {
    const Bytes frame = first.frame({.sequence = ++sequence}, one.record, bytes(kData));
    first.send(frame);
    EXPECT_EQ(first_status(first.receive()), WireStatus::ok);
    second.send(frame);
    EXPECT_EQ(offset_in(second.receive()), one.at);
    EXPECT_EQ(size_of(one.file), one.at + kData.size());
  }
}

TEST_F(NativeAppendsOnce, AfterARestartWhileNewOnesWaitForTheEndOfGrace) {
  const auto all = appends();
  {
    auto before = raw();
    U32 sequence = 0;
    for (const AppendMessage& one : all)
      EXPECT_EQ(first_status(before.call({.sequence = ++sequence}, one.record, bytes(kData))), WireStatus::ok);
    // Somebody has something to ask back.
    const Bytes open = record_of<operations::open>(
        {.parent = root_file(), .open = 1, .disposition = kOpenCreate, .access = kOpenWrite, .name = "held"});
    EXPECT_EQ(first_status(before.call({.slot = 1}, open)), WireStatus::ok);
  }
  restart();
  auto after = raw();
  ASSERT_TRUE(volume->state().in_grace());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto reply = after.call({.sequence = static_cast<U32>(i + 1)}, all[i].record, bytes(kData));
    EXPECT_EQ(first_status(reply), WireStatus::ok) << i;
    EXPECT_EQ(offset_in(reply), all[i].at) << i;
  }
  const Bytes& record = all[0].record;
  EXPECT_EQ(first_status(after.call({.slot = 2}, record, bytes(kData))), WireStatus::grace);
  EXPECT_EQ(first_status(after.call({.slot = 3}, record_of<operations::reclaim_done>({}))), WireStatus::ok);
  for (const AppendMessage& one : all) EXPECT_EQ(size_of(one.file), one.at + kData.size());
  EXPECT_EQ(offset_in(after.call({.slot = 2, .sequence = 2}, record, bytes(kData))), all[0].at + kData.size())
      << "another message is another append";
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

TEST_F(NativeExactlyOnce, AMessageWaitsForARecallBeforeItHasChangedAnything) {
  struct Silent final : core::HolderEvents {
  } silent;
  const core::HolderId holder = volume->state().add_holder(core::Protocol::kSmb, &silent);
  const auto file = volume->ns().create({}, {.parent = exported, .name = "leased"})->attr.id;
  const auto lease = volume->state().grant_lease(
      file, {holder, {}}, {.bits = core::kReadCaching | core::kWriteCaching, .kind = core::LeaseKind::kDelegation});
  ASSERT_TRUE(lease);
  const Bytes set =
      record_of<operations::setattr>({.file = File{static_cast<U64>(file)}, .set = {.which = kSetMode, .mode = 0600}});
  auto first = raw();
  Bytes after_change = record_of<operations::mkdir>({.parent = root_file(), .name = "before"});
  after_change.insert(after_change.end(), set.begin(), set.end());
  EXPECT_EQ(first.call({.slot = 1, .operation_count = 2}, after_change).header.operation_count, 2u);

  Bytes records = record_of<operations::lookup>({.parent = root_file(), .name = "leased"});
  records.insert(records.end(), set.begin(), set.end());
  const Bytes made = record_of<operations::mkdir>({.parent = root_file(), .name = "after"});
  records.insert(records.end(), made.begin(), made.end());
  const Bytes frame = first.frame({.operation_count = 3}, records);
  first.send(frame);
  while (metric("stoa_native_recall_waits_total") < 1) std::this_thread::yield();
  // Sent again meanwhile.
  auto second = raw("0123456789abcdef", first.welcome->session);
  second.send(frame);
  while (metric("stoa_native_recall_waits_total") < 2) std::this_thread::yield();
  EXPECT_FALSE(volume->ns().lookup({}, {.parent = exported, .name = "after"}));
  volume->state().return_lease(lease->id);
  std::set<WireStatus> told;
  for (RawChannel* channel : {&first, &second}) {
    const MessageView reply = channel->receive();
    told.insert(WireStatus{reply.header.status});
    std::span<const std::byte> answers = reply.operations;
    while (const auto answer = next_record(answers)) EXPECT_EQ(WireStatus{answer->code}, WireStatus::ok);
  }
  told.erase(WireStatus::in_progress);
  EXPECT_EQ(told, std::set{WireStatus::ok});
  EXPECT_TRUE(volume->ns().lookup({}, {.parent = exported, .name = "after"}));
  volume->state().mute(silent);
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

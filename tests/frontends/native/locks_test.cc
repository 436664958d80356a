// Byte-range locks between sessions, and what a restart leaves of them.
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeLocks : public NativeTest {
 protected:
  NativeLocks() : one(host_client()), two(host_client()) {
    file = File{must<operations::create>(*one, {.parent = File{one->facts().root}, .name = "f"}).attr.id};
  }
  std::unique_ptr<Client> one, two;
  File file{};
};

TEST_F(NativeLocks, WhatOneHasTheOtherDoesNotGet) {
  EXPECT_EQ(status<operations::lock>(*one, {.file = file, .owner = 1, .offset = 10, .length = 10, .exclusive = 1}),
            WireStatus::ok);
  Batch batch;
  batch.add<operations::lock>({.file = file, .owner = 1, .offset = 15, .length = kLockToEnd});
  const auto replies = two->call(batch, root());
  ASSERT_TRUE(replies);
  ASSERT_EQ(replies->status(0), WireStatus::locked);
  const LockReply held = replies->read<operations::lock>(0);
  EXPECT_EQ(held.offset, 10u);
  EXPECT_EQ(held.length, 10u);
  EXPECT_EQ(held.exclusive, 1u);
  EXPECT_EQ(held.mine, 0u);
  EXPECT_EQ(status<operations::test_lock>(*one, {.file = file, .owner = 2, .offset = 10, .length = 1}),
            WireStatus::locked);
  EXPECT_EQ(status<operations::test_lock>(*two, {.file = file, .owner = 2, .offset = 20, .length = 1, .exclusive = 1}),
            WireStatus::ok);
  EXPECT_EQ(status<operations::unlock>(*one, {.file = file, .owner = 1, .offset = 15, .length = 5}), WireStatus::ok);
  EXPECT_EQ(status<operations::lock>(*two, {.file = file, .owner = 1, .offset = 15, .length = kLockToEnd}),
            WireStatus::ok);
  EXPECT_EQ(status<operations::lock>(*two, {.file = file, .owner = 1, .offset = 0, .length = 0}), WireStatus::invalid);
}

TEST_F(NativeLocks, WhoWaitsGetsTheLockWhenItIsFree) {
  ASSERT_EQ(status<operations::lock>(*one, {.file = file, .owner = 1, .length = kLockToEnd, .exclusive = 1}),
            WireStatus::ok);
  int asked = 0;
  CallOptions waits = root();
  waits.interrupted = [&] {
    if (++asked == 2) must<operations::unlock>(*one, {.file = file, .owner = 1, .length = kLockToEnd});
    return false;
  };
  EXPECT_EQ(status<operations::lock>(*two, {.file = file, .owner = 1, .length = kLockToEnd, .exclusive = 1, .waits = 1},
                                     waits),
            WireStatus::ok);
  EXPECT_GE(asked, 2);
  Batch again;
  again.add<operations::lock>({.file = file, .owner = 1, .length = kLockToEnd, .exclusive = 1, .waits = 1});
  CallOptions interrupted = root();
  interrupted.interrupted = [] { return true; };
  EXPECT_EQ(one->call(again, interrupted).error().code, Errc::kTimeout);
  CallOptions once = root();
  once.asks_once = true;
  const auto told = one->call(again, once);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->status(0), WireStatus::locked);
}

TEST_F(NativeLocks, ASessionThatEndsGivesUpItsLocks) {
  ASSERT_EQ(status<operations::lock>(*one, {.file = file, .owner = 1, .length = kLockToEnd, .exclusive = 1}),
            WireStatus::ok);
  one.reset();
  EXPECT_EQ(
      status<operations::lock>(*two, {.file = file, .owner = 1, .length = kLockToEnd, .exclusive = 1, .waits = 1}),
      WireStatus::ok);
}

TEST_F(NativeLocks, OpensAndLocksAreAskedBackAfterARestart) {
  const std::uint64_t open = one->new_open();
  ASSERT_EQ(status<operations::open>(*one, {.file = file, .open = open, .access = kOpenRead | kOpenWrite}),
            WireStatus::ok);
  ASSERT_EQ(status<operations::lock>(*one, {.file = file, .owner = 1, .offset = 5, .length = 5, .exclusive = 1}),
            WireStatus::ok);
  ASSERT_EQ(status<operations::unlink>(*two, {.parent = File{two->facts().root}, .name = "f"}), WireStatus::ok);
  restart();
  Batch write;
  write.add_write({.file = file, .open = open, .stable = 1}, bytes("still"));
  const auto written = one->call(write, root());
  ASSERT_TRUE(written) << describe(written.error());
  EXPECT_EQ(written->status(0), WireStatus::ok);
  EXPECT_FALSE(one->lost(open));
  EXPECT_EQ(one->counts().reclaimed, 2u);
  EXPECT_EQ(volume->state().held_of(core::FileId{static_cast<U64>(file)}, 10).locks.total, 1u);
  EXPECT_EQ(status<operations::lock>(*two, {.file = file, .owner = 1, .length = kLockToEnd}), WireStatus::locked);
}

TEST_F(NativeLocks, AnEvictedClientHasLostItsLocksAndTheOpensOfTheirFiles) {
  const std::uint64_t open = one->new_open();
  ASSERT_EQ(status<operations::open>(*one, {.file = file, .open = open, .access = kOpenWrite}), WireStatus::ok);
  ASSERT_EQ(status<operations::lock>(*one, {.file = file, .owner = 1, .length = kLockToEnd, .exclusive = 1}),
            WireStatus::ok);
  for (const auto& client : server->clients()) {
    if (client.held.opens > 0) {
      ASSERT_TRUE(server->evict(client.id));
    }
  }
  must<operations::getattr>(*one, {file});
  EXPECT_TRUE(one->lost(open));
}

}  // namespace
}  // namespace stoa::test

// Copies behind the answer: COPY, OFFLOAD_STATUS, OFFLOAD_CANCEL, CB_OFFLOAD (RFC 7862 4, 15.2, 15.8, 15.9, 16.1).
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kLong = 40 * kMiB + 5;  // not done while a client waits
constexpr std::size_t kCopiesPerClient = 16;

class OffloadTest : public ProtocolTest {
 protected:
  OffloadTest() {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    a->back_channel = true;
    a->minor_version = 2;
    a->connect();
    root = a->handle_of({"test"});
    source = a->open(root, "source", kOpenBoth);
    target = a->open(root, "target", kOpenBoth, 0, true, "o2");
    source_id = id_of("source");
    EXPECT_TRUE(volume->ns().setattr({}, {.id = source_id, .set = {.size = kLong}}));
    for (const std::uint64_t at : {std::uint64_t{0}, 17 * kMiB - 2, kLong - 5}) put(source_id, at, "piece");
  }
  core::FileId id_of(std::string_view name) {
    const auto dir = volume->ns().lookup({}, {.parent = core::kRootId, .name = "test", .root = core::kRootId});
    return volume->ns().lookup({}, {.parent = dir->attr.id, .name = name, .root = core::kRootId})->attr.id;
  }
  void put(core::FileId id, std::uint64_t at, std::string_view text) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    EXPECT_TRUE(volume->ns().write({}, {id, at, pieces}));
  }
  void expect_equal() {
    std::vector<std::byte> is(kLong), should(kLong);
    EXPECT_EQ(volume->ns().read({}, {id_of("target"), 0, is})->length, kLong);
    EXPECT_TRUE(volume->ns().read({}, {source_id, 0, should}));
    EXPECT_TRUE(is == should);
  }
  struct Copied {
    Nfs4Status status{};
    std::optional<WireStateid> later{};
    std::uint64_t bytes = 0;
    bool consecutive = false, synchronous = false;
  };
  Copied copy(CompoundCaller& client, bool synchronous = false, std::uint64_t count = 0) {
    Ops ops;
    ops.putfh(source.handle)
        .op(32)
        .putfh(target.handle)
        .op(60)
        .stateid(mine(client, source))
        .stateid(mine(client, target));
    auto result = client.call(ops.u64(0).u64(0).u64(count).u32(1).u32(synchronous ? 1 : 0).u32(0), 2);
    Copied copied{.status = result.status};
    if (!result.ok()) return copied;
    result.skip_sequence();
    for (const std::uint32_t operation : {22u, 32u, 22u, 60u}) result.next(operation);
    if (result.in.u32() == 1) copied.later = read_wire_stateid(result.in);
    copied.bytes = result.in.u64();
    EXPECT_EQ(result.in.u32(), 0u);  // UNSTABLE4
    result.in.fixed(8);
    copied.consecutive = result.in.boolean();
    copied.synchronous = result.in.boolean();
    return copied;
  }
  WireStateid mine(const CompoundCaller& client, const CompoundCaller::Open& open) const {
    return &client == a.get() ? open.stateid : WireStateid{};
  }
  struct Progress {
    Nfs4Status status{};
    std::uint64_t bytes = 0;
    std::optional<Nfs4Status> result{};
  };
  Progress progress(CompoundCaller& client, const WireStateid& stateid) {
    auto result = client.call(Ops().putfh(target.handle).op(67).stateid(stateid), 2);
    Progress progress{.status = result.status};
    if (!result.ok()) return progress;
    result.skip_sequence();
    result.next(22);
    result.next(67);
    progress.bytes = result.in.u64();
    if (result.in.u32() == 1) progress.result = static_cast<Nfs4Status>(result.in.u32());
    return progress;
  }
  Nfs4Status cancel(CompoundCaller& client, const WireStateid& stateid) {
    return client.call(Ops().putfh(target.handle).op(66).stateid(stateid), 2).status;
  }
  std::unique_ptr<CompoundCaller> a;
  Bytes root;
  CompoundCaller::Open source, target;
  core::FileId source_id{};
};

TEST_F(OffloadTest, ALongCopyGoesOnAndTheClientIsToldOfItsEnd) {
  const auto copied = copy(*a);
  ASSERT_EQ(copied.status, Nfs4Status::kOk);
  ASSERT_TRUE(copied.later);
  EXPECT_NE(copied.later->seqid, 0u);
  EXPECT_EQ(copied.bytes, 0u);
  EXPECT_TRUE(copied.consecutive);
  EXPECT_FALSE(copied.synchronous);
  const WireOffload told = a->take_offload();
  EXPECT_EQ(told.stateid.other, copied.later->other);
  EXPECT_EQ(told.stateid.seqid, copied.later->seqid);
  EXPECT_EQ(told.handle, target.handle);
  EXPECT_EQ(told.status, Nfs4Status::kOk);
  EXPECT_EQ(told.bytes, kLong);
  expect_equal();
  // The client's reply ends the stateid.
  while (progress(*a, *copied.later).status == Nfs4Status::kOk) {
  }
  EXPECT_EQ(progress(*a, *copied.later).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(cancel(*a, *copied.later), Nfs4Status::kBadStateId);
  EXPECT_EQ(metric("stoa_nfs4_offloaded_copies"), 0u);
}

TEST_F(OffloadTest, ShortOnesAndThoseThatMustNotAreDoneAtOnce) {
  const auto small = copy(*a, false, 1000);
  EXPECT_EQ(small.bytes, 1000u);
  EXPECT_TRUE(small.synchronous && !small.later);
  const auto asked = copy(*a, true);
  EXPECT_EQ(asked.bytes, 16 * kMiB);
  EXPECT_TRUE(asked.synchronous && !asked.later);
  CompoundCaller deaf(port, "deaf");
  deaf.connect();
  const auto cut = copy(deaf);
  EXPECT_EQ(cut.bytes, 16 * kMiB);
  EXPECT_TRUE(cut.synchronous && !cut.later);
}

TEST_F(OffloadTest, WhatIsRefusedIsRefusedAtOnce) {
  EXPECT_EQ(copy(*a, false, kLong + 1).status, Nfs4Status::kInval);
  const auto reader = a->open(root, "target", 1, 0, false, "reader");
  target.stateid = reader.stateid;
  EXPECT_EQ(copy(*a).status, Nfs4Status::kOpenMode);
}

TEST_F(OffloadTest, EvictionEndsCopies) {
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  const auto copied = copy(*a);
  ASSERT_TRUE(copied.later);
  EXPECT_EQ(metric("stoa_nfs4_offloaded_copies"), 1u);
  ASSERT_TRUE(server->evict(server->clients().front().id));
  EXPECT_EQ(metric("stoa_nfs4_offloaded_copies"), 0u);
  EXPECT_EQ(progress(*a, *copied.later).status, Nfs4Status::kBadStateId);
}

TEST_F(OffloadTest, CopiesEndWithTheirClient) {
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  ASSERT_TRUE(copy(*a).later);
  EXPECT_EQ(metric("stoa_nfs4_offloaded_copies"), 1u);
  CompoundCaller again(port, "a", 2);  // has started anew
  again.connect();
  EXPECT_EQ(metric("stoa_nfs4_offloaded_copies"), 0u);
}

TEST_F(OffloadTest, ProgressUntilTheClientHasTakenTheEnd) {
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  const auto copied = copy(*a);
  ASSERT_TRUE(copied.later);
  Progress now;
  std::uint64_t last = 0;
  while (!(now = progress(*a, *copied.later)).result) {
    ASSERT_EQ(now.status, Nfs4Status::kOk);
    EXPECT_GE(now.bytes, last);
    last = now.bytes;
  }
  EXPECT_EQ(now.result, Nfs4Status::kOk);
  EXPECT_EQ(now.bytes, kLong);
  a->take_offload();
  EXPECT_EQ(progress(*a, *copied.later).result, Nfs4Status::kOk);
  CompoundCaller other(port, "b");
  other.minor_version = 2;
  other.connect();
  EXPECT_EQ(progress(other, *copied.later).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(cancel(other, *copied.later), Nfs4Status::kBadStateId);
  WireStateid newest = *copied.later;
  newest.seqid = 0;  // has no meaning for copies
  EXPECT_EQ(progress(*a, newest).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->write(target.handle, *copied.later, "x"), Nfs4Status::kBadStateId);
  EXPECT_EQ(cancel(*a, *copied.later), Nfs4Status::kOk);
  EXPECT_EQ(progress(*a, *copied.later).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->call(Ops().op(67).stateid(*copied.later), 2).status, Nfs4Status::kNoFileHandle);
  EXPECT_EQ(a->call(Ops().putfh(target.handle).op(66).u32(1), 2).status, Nfs4Status::kBadXdr);
}

TEST_F(OffloadTest, NothingIsCopiedOnceACancelIsAnswered) {
  const auto copied = copy(*a);
  ASSERT_TRUE(copied.later);
  const Nfs4Status cancelled = cancel(*a, *copied.later);
  EXPECT_TRUE(cancelled == Nfs4Status::kOk || cancelled == Nfs4Status::kBadStateId);  // it was done, and its end taken
  ASSERT_TRUE(volume->ns().setattr({}, {.id = id_of("target"), .set = {.size = 0}}));
  const auto second = copy(*a);  // the threads are free again
  ASSERT_TRUE(second.later);
  WireOffload told;
  do {
    told = a->take_offload();
  } while (told.stateid.other == copied.later->other);  // its end had been on its way
  EXPECT_EQ(told.stateid.other, second.later->other);
  expect_equal();
}

TEST_F(OffloadTest, AnErrorComesWithWhatWasCopied) {
  const auto dir = volume->ns().lookup({}, {.parent = core::kRootId, .name = "test", .root = core::kRootId});
  ASSERT_TRUE(volume->ns().set_quota({}, {dir->attr.id, {.bytes = kLong + 20 * kMiB}}));
  ASSERT_TRUE(copy(*a).later);
  const WireOffload told = a->take_offload();
  EXPECT_EQ(told.status, Nfs4Status::kDQuot);
  EXPECT_EQ(told.bytes, 16 * kMiB);
}

TEST_F(OffloadTest, TheEndFollowsTheBackChannelToAnotherConnection) {
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  const auto copied = copy(*a);
  ASSERT_TRUE(copied.later);
  a->take_offload();
  a->reconnect(port).reset();
  a->callbacks = CompoundCaller::Callbacks::kTake;
  ASSERT_EQ(a->bind_connection(), Nfs4Status::kOk);
  EXPECT_EQ(a->take_offload().stateid.other, copied.later->other);
  while (progress(*a, *copied.later).status == Nfs4Status::kOk) {
  }
  EXPECT_EQ(progress(*a, *copied.later).status, Nfs4Status::kBadStateId);
}

TEST_F(OffloadTest, AClientHasSoManyAndIsHelpedAtOnceBeyondThem) {
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  std::vector<WireStateid> stateids;
  for (std::size_t i = 0; i < kCopiesPerClient; ++i) {
    const auto copied = copy(*a, false, 17 * kMiB);
    ASSERT_TRUE(copied.later);
    stateids.push_back(*copied.later);
  }
  EXPECT_TRUE(copy(*a).synchronous);
  CompoundCaller other(port, "b");
  other.back_channel = true;
  other.minor_version = 2;
  other.connect();
  const auto theirs = copy(other, false, 17 * kMiB);
  ASSERT_TRUE(theirs.later);
  EXPECT_EQ(other.take_offload().stateid.other, theirs.later->other);
  for (const WireStateid& stateid : stateids) EXPECT_EQ(cancel(*a, stateid), Nfs4Status::kOk);
  EXPECT_TRUE(copy(*a).later);
}

TEST_F(OffloadTest, ACopyEndsWithItsClientOrTheServer) {
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  const auto copied = copy(*a);
  ASSERT_TRUE(copied.later);
  restart();
  CompoundCaller again(port, "a");
  again.minor_version = 2;
  again.connect();
  EXPECT_EQ(progress(again, *copied.later).status, Nfs4Status::kBadStateId);
}

TEST_F(OffloadTest, CopiesBetweenServersAreNotOffered) {
  EXPECT_EQ(a->call(Ops().putfh(source.handle).op(61).stateid(source.stateid).u32(1).string("server"), 2).status,
            Nfs4Status::kNotSupp);
}

}  // namespace
}  // namespace stoa::test

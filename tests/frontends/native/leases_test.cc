// Leases on the wire: granted, recalled over the connections of a session, answered, lost, asked back.
#include <thread>

#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

constexpr U32 kRead = core::kReadCaching;
constexpr U32 kReadHandle = core::kReadCaching | core::kHandleCaching;
constexpr U32 kAll = core::kAllCaching;

class NativeLeases : public NativeTest {
 protected:
  NativeLeases() : holder(raw()), other(host_client()) {
    file = File{must<operations::create>(*other, {.parent = top(), .name = "f"}).attr.id};
  }
  File top() const { return File{static_cast<U64>(exported)}; }

  // One operation in the next message of slot 0; pushes that come before the reply are kept.
  MessageView call(RawChannel& channel, const Bytes& records, std::span<const std::byte> payload = {}) {
    channel.send(channel.frame({.sequence = ++sequence}, records, payload));
    return reply(channel);
  }
  MessageView reply(RawChannel& channel) {
    while (true) {
      const MessageView view = channel.receive();
      if (view.header.kind != static_cast<U16>(MessageKind::kRecall)) return view;
      keep(view);
    }
  }
  void keep(const MessageView& view) {
    std::span<const std::byte> rest = view.operations;
    U32 count = 0;
    while (const auto record = next_record(rest)) {
      RecallNotice notice;
      EXPECT_TRUE(read_record(*record, notice));
      recalls.push_back(notice);
      ++count;
    }
    EXPECT_EQ(count, view.header.operation_count);
    EXPECT_TRUE(rest.empty());
  }
  RecallNotice next_recall(RawChannel& channel) {
    while (recalls.empty()) {
      const MessageView view = channel.receive();
      if (view.header.kind != static_cast<U16>(MessageKind::kRecall)) {
        ADD_FAILURE() << "no recall, but kind " << view.header.kind;
        return {};
      }
      keep(view);
    }
    const RecallNotice first = recalls.front();
    recalls.erase(recalls.begin());
    return first;
  }
  void ping(RawChannel& channel) {
    channel.send(channel.frame({.kind = static_cast<U16>(MessageKind::kPing)}, {}));
    EXPECT_EQ(reply(channel).header.kind, static_cast<U16>(MessageKind::kPong));
  }
  template <class Operation>
  typename Operation::Reply done(const MessageView& view) {
    typename Operation::Reply value;
    EXPECT_EQ(first_status(view), WireStatus::ok);
    std::span<const std::byte> rest = view.operations;
    const auto record = next_record(rest);
    EXPECT_TRUE(record && read_record(*record, value));
    return value;
  }
  U32 lease(RawChannel& channel, const LeaseArgs& wish) {
    return done<operations::lease>(call(channel, record_of<operations::lease>(wish))).lease_bits;
  }
  WireStatus acknowledge(RawChannel& channel, U64 number, U32 bits) {
    return first_status(call(channel, record_of<operations::acknowledge>({.lease = number, .lease_bits = bits})));
  }
  std::vector<U64> lost(RawChannel& channel) {
    const auto told = done<operations::lost_leases>(call(channel, record_of<operations::lost_leases>({})));
    std::vector<U64> numbers;
    std::span<const std::byte> rest = std::as_bytes(std::span(told.leases));
    while (const auto record = next_record(rest)) {
      LostLease one;
      EXPECT_TRUE(read_record(*record, one));
      numbers.push_back(one.lease);
    }
    EXPECT_EQ(numbers.size(), told.count);
    return numbers;
  }
  // Once, by somebody else; recall_pending while a lease is in the way.
  WireStatus change_once() {
    CallOptions once = root();
    once.asks_once = true;
    Batch batch;
    batch.add<operations::create>({.parent = top(), .name = "made"});
    batch.add<operations::setattr>({.file = file, .set = {.which = kSetMode, .mode = 0600}});
    const auto replies = other->call(batch, once);
    if (!replies) return WireStatus::timeout;
    return replies->status(1);
  }
  // What somebody else does meanwhile, by a thread of his own.
  template <class Operation>
  std::jthread meanwhile(typename Operation::Arguments arguments, WireStatus& became) {
    return std::jthread([this, arguments, &became] { became = status<Operation>(*other, arguments); });
  }

  RawChannel holder;
  std::unique_ptr<Client> other;
  File file{};
  U32 sequence = 0;
  std::vector<RecallNotice> recalls;
};

TEST_F(NativeLeases, IsGrantedByANumberAndGivenBack) {
  EXPECT_EQ(lease(holder, {.file = file, .lease = 1, .lease_bits = kRead}), kRead);
  EXPECT_EQ(lease(holder, {.file = file, .lease = 1, .lease_bits = kRead}), kRead);  // the same again
  EXPECT_EQ(lease(holder, {.file = file, .lease = 1, .lease_bits = kAll}), kAll);    // more of it
  EXPECT_EQ(server->clients().size(), 2u);
  std::int64_t leases = 0;
  for (const auto& client : server->clients()) leases += client.held.leases;
  EXPECT_EQ(leases, 1);
  EXPECT_EQ(acknowledge(holder, 1, kRead), WireStatus::ok);  // less of it, unasked
  EXPECT_EQ(acknowledge(holder, 1, kAll), WireStatus::invalid);
  EXPECT_EQ(acknowledge(holder, 1, 0), WireStatus::ok);
  EXPECT_EQ(acknowledge(holder, 1, 0), WireStatus::lease_lost);
  EXPECT_EQ(lease(holder, {.file = file, .lease = 2, .lease_bits = kRead}), kRead);
}

TEST_F(NativeLeases, WishesThatCannotBeAreRefusedAndChangeNothing) {
  const auto status_of = [&](const LeaseArgs& wish) {
    return first_status(call(holder, record_of<operations::lease>(wish)));
  };
  EXPECT_EQ(status_of({.file = file, .lease = 0, .lease_bits = kRead}), WireStatus::invalid);
  EXPECT_EQ(status_of({.file = file, .lease = 1, .lease_bits = 0}), WireStatus::invalid);
  EXPECT_EQ(status_of({.file = file, .lease = 1, .lease_bits = 8}), WireStatus::invalid);
  EXPECT_EQ(status_of({.file = file, .lease = 1, .lease_bits = core::kWriteCaching}), WireStatus::invalid);
  EXPECT_EQ(status_of({.file = file, .lease = 1, .lease_bits = kRead, .kind = 2}), WireStatus::invalid);
  EXPECT_EQ(status_of({.file = file, .lease = 1, .lease_bits = kRead, .kind = 1}), WireStatus::not_directory);
  EXPECT_EQ(status_of({.file = File{0}, .lease = 1, .lease_bits = kRead}), WireStatus::bad_handle);
  EXPECT_EQ(status_of({.file = File{~0ull >> 8}, .lease = 1, .lease_bits = kRead}), WireStatus::stale);
  EXPECT_EQ(status_of({.file = File{1}, .lease = 1, .lease_bits = kRead}), WireStatus::stale);  // above the export
  EXPECT_EQ(acknowledge(holder, 7, 0), WireStatus::lease_lost);
  EXPECT_EQ(acknowledge(holder, 0, 0), WireStatus::lease_lost);
  EXPECT_TRUE(lost(holder).empty());
  // The number of another file, and another number for the file.
  ASSERT_EQ(lease(holder, {.file = file, .lease = 1, .lease_bits = kRead}), kRead);
  EXPECT_EQ(lease(holder, {.file = top(), .lease = 1, .lease_bits = kRead}), 0u);
  EXPECT_EQ(lease(holder, {.file = file, .lease = 2, .lease_bits = kRead}), 0u);
  // Not in grace.
  EXPECT_EQ(lease(holder, {.file = top(), .lease = 3, .lease_bits = kRead, .reclaim = 1}), 0u);
}

TEST_F(NativeLeases, WhoMayNotSearchADirectoryGetsNone) {
  const auto dir =
      must<operations::mkdir>(*other, {.parent = top(), .set = {.which = kSetMode, .mode = 0700}, .name = "d"});
  holder.as = Identity{.uid = 1000, .gid = 1000};
  EXPECT_EQ(lease(holder, {.file = File{dir.attr.id}, .lease = 1, .lease_bits = kRead}), 0u);
  holder.as = Identity{.uid = 0, .gid = 0};
  EXPECT_EQ(lease(holder, {.file = File{dir.attr.id}, .lease = 1, .lease_bits = kRead}), kRead);
}

TEST_F(NativeLeases, AChangeByOthersIsToldAndWaitsForTheAnswer) {
  ASSERT_EQ(lease(holder, {.file = file, .lease = 5, .lease_bits = kAll}), kAll);
  EXPECT_EQ(change_once(), WireStatus::recall_pending);
  const RecallNotice told = next_recall(holder);
  EXPECT_EQ(told.lease, 5u);
  EXPECT_EQ(File{told.file}, file);
  EXPECT_EQ(File{told.subject}, file);
  EXPECT_EQ(told.keeps & kRead, 0u);
  EXPECT_EQ(acknowledge(holder, 5, kAll), WireStatus::invalid);  // more than is left
  EXPECT_EQ(acknowledge(holder, 5, told.keeps), WireStatus::ok);
  EXPECT_EQ(status<operations::setattr>(*other, {.file = file, .set = {.which = kSetMode, .mode = 0600}}),
            WireStatus::ok);
  EXPECT_GE(metric("stoa_native_recalls_total"), 1u);
}

TEST_F(NativeLeases, ARecallThatWasNotAnsweredComesAgainOverANewConnection) {
  ASSERT_EQ(lease(holder, {.file = file, .lease = 5, .lease_bits = kRead}), kRead);
  holder.connection->break_off();
  EXPECT_EQ(change_once(), WireStatus::recall_pending);
  RawChannel again = raw("0123456789abcdef", holder.welcome->session);
  ASSERT_EQ(again.welcome->resumed, 1u);
  ping(again);
  EXPECT_EQ(next_recall(again).lease, 5u);
  RawChannel third = raw("0123456789abcdef", holder.welcome->session);
  ping(third);
  // Over the newest.
  EXPECT_EQ(next_recall(third).lease, 5u);
  EXPECT_EQ(acknowledge(third, 5, 0), WireStatus::ok);
}

TEST_F(NativeLeases, ASessionThatEndsGivesUpItsLeases) {
  ASSERT_EQ(lease(holder, {.file = file, .lease = 5, .lease_bits = kAll}), kAll);
  WireStatus became{};
  {
    const auto waits = meanwhile<operations::setattr>({.file = file, .set = {.which = kSetMode, .mode = 0600}}, became);
    EXPECT_EQ(next_recall(holder).lease, 5u);
    holder.send(holder.frame({.kind = static_cast<U16>(MessageKind::kGoodbye)}, {}));
  }
  EXPECT_EQ(became, WireStatus::ok);
}

TEST_F(NativeLeases, AWriteUnderALeaseThatIsNotThereChangesNothing) {
  const Bytes data(4, std::byte{'x'});
  const auto write = [&](U64 number) {
    return first_status(call(
        holder, record_of<operations::write>({.file = file, .data_bytes = 4, .stable = 1, .lease = number}), data));
  };
  EXPECT_EQ(write(9), WireStatus::lease_lost);
  EXPECT_EQ(must<operations::getattr>(*other, {.file = file}).attr.size, 0u);
  ASSERT_EQ(lease(holder, {.file = file, .lease = 9, .lease_bits = kAll}), kAll);
  EXPECT_EQ(write(9), WireStatus::ok);
  ASSERT_EQ(acknowledge(holder, 9, 0), WireStatus::ok);
  EXPECT_EQ(write(9), WireStatus::lease_lost);
  EXPECT_EQ(write(0), WireStatus::ok);
}

TEST_F(NativeLeases, AnOpenByIdIsMadeWhileTheNameGoes) {
  // As a client does that has opened the file by itself under its handle lease.
  ASSERT_EQ(lease(holder, {.file = file, .lease = 5, .lease_bits = kReadHandle}), kReadHandle);
  WireStatus became{};
  {
    const auto removes = meanwhile<operations::unlink>({.parent = top(), .name = "f"}, became);
    EXPECT_EQ(next_recall(holder).lease, 5u);
    const auto opened = done<operations::open>(
        call(holder, record_of<operations::open>({.file = file, .open = 1, .access = kOpenRead})));
    EXPECT_EQ(File{opened.attr.id}, file);
    EXPECT_EQ(acknowledge(holder, 5, 0), WireStatus::ok);
  }
  EXPECT_EQ(became, WireStatus::ok);
  // Its content is there until the last close.
  EXPECT_EQ(first_status(call(holder, record_of<operations::read>({.file = file, .open = 1, .length = 10}))),
            WireStatus::ok);
  EXPECT_EQ(first_status(call(holder, record_of<operations::close>({.open = 1}))), WireStatus::ok);
  EXPECT_EQ(first_status(call(holder, record_of<operations::read>({.file = file, .length = 10}))), WireStatus::stale);
}

TEST_F(NativeLeases, AnOpenMadeBeforeTheAnswerHasTheRightsOfBefore) {
  must<operations::setattr>(*other, {.file = file, .set = {.which = kSetMode, .mode = 0644}});
  ASSERT_EQ(lease(holder, {.file = file, .lease = 5, .lease_bits = kReadHandle}), kReadHandle);
  WireStatus became{};
  holder.as = Identity{.uid = 1000, .gid = 1000};
  {
    const auto changes =
        meanwhile<operations::setattr>({.file = file, .set = {.which = kSetMode, .mode = 0600}}, became);
    EXPECT_EQ(next_recall(holder).lease, 5u);
    EXPECT_EQ(first_status(call(holder, record_of<operations::open>({.file = file, .open = 1, .access = kOpenRead}))),
              WireStatus::ok);
    EXPECT_EQ(acknowledge(holder, 5, 0), WireStatus::ok);
  }
  EXPECT_EQ(became, WireStatus::ok);
  EXPECT_EQ(first_status(call(holder, record_of<operations::open>({.file = file, .open = 2, .access = kOpenRead}))),
            WireStatus::access);
  EXPECT_EQ(first_status(call(holder, record_of<operations::read>({.file = file, .open = 1, .length = 10}))),
            WireStatus::ok);
  EXPECT_EQ(first_status(call(holder, record_of<operations::read>({.file = file, .length = 10}))), WireStatus::access);
}

TEST_F(NativeLeases, AfterARestartLeasesAreAskedBackInGrace) {
  ASSERT_EQ(lease(holder, {.file = file, .lease = 5, .lease_bits = kAll}), kAll);
  restart();
  RawChannel back = raw("0123456789abcdef", holder.welcome->session);
  ASSERT_EQ(back.welcome->resumed, 0u);
  ASSERT_EQ(back.welcome->may_reclaim, 1u);
  EXPECT_EQ(lease(back, {.file = top(), .lease = 6, .lease_bits = kRead}), 0u);  // a new one, in grace
  EXPECT_EQ(acknowledge(back, 5, kAll), WireStatus::lease_lost);
  EXPECT_EQ(lease(back, {.file = file, .lease = 5, .lease_bits = kAll, .reclaim = 1}), kAll);
  ASSERT_EQ(first_status(call(back, record_of<operations::reclaim_done>({}))), WireStatus::ok);
  EXPECT_EQ(lease(back, {.file = top(), .lease = 6, .lease_bits = kRead, .reclaim = 1}), 0u);
  EXPECT_EQ(lease(back, {.file = top(), .lease = 6, .lease_bits = kRead}), kRead);
  EXPECT_EQ(acknowledge(back, 5, 0), WireStatus::ok);
}

}  // namespace
}  // namespace stoa::test

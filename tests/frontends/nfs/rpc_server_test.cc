// The RPC server with a program made for the purpose: errors of RFC 5531, order of replies, duplicates, limits.
#include "frontends/nfs/rpc/server.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "tests/frontends/nfs/no_scope.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::rpc {
namespace {

using test::Bytes;
using test::CallSpec;
using test::WireClient;
using test::Xdr;

constexpr std::uint32_t kToy = 400'000;
constexpr std::uint32_t kBulkMax = 4 << 20;
enum ToyProcedure : std::uint32_t { kNull = 0, kEcho = 1, kCount = 2, kGate = 3, kBulk = 4, kFile = 5, kKeep = 7 };

class ToyProgram final : public test::PlainProgram {
 public:
  std::uint32_t number() const override { return kToy; }
  std::string_view name() const override { return "toy"; }
  std::uint32_t version_low() const override { return 2; }
  std::uint32_t version_high() const override { return 3; }
  std::span<const Procedure> procedures() const override {
    static constexpr std::array<Procedure, 8> kList{
        {{"null"}, {"echo"}, {"count", false}, {"gate"}, {"bulk"}, {"file"}, {}, {"keep"}}};
    return kList;
  }
  CostClass cost_class(const CallHeader& header) const override {
    constexpr CostClass kList[] = {CostClass::kMemory, CostClass::kMemory, CostClass::kChange, CostClass::kHeavy,
                                   CostClass::kHeavy,  CostClass::kHeavy,  CostClass::kMemory, CostClass::kMemory};
    return kList[header.procedure];
  }
  Outcome run(const test::PlainCall& call, Reply& reply) override {
    XdrReader in(call.header.arguments);
    switch (call.header.procedure) {
      case kEcho: {
        const auto text = in.string(1000);
        if (!in.ok()) return {.accept = AcceptStatus::kGarbageArguments};
        reply.out.string(text);
        return {};
      }
      case kCount:
        reply.out.u32(count.fetch_add(1) + 1);
        if (call.pending != nullptr) {
          call.pending->add(core::ShardId{}, core::CommitTicket{count.load()});
          call.pending->add_written(core::FileId{count.load()});
        }
        return {};
      case kGate: {
        std::unique_lock lock(mutex);
        ++waiting;
        changed.notify_all();
        changed.wait(lock, [&] { return open; });
        reply.out.u32(1);
        return {};
      }
      case kBulk: {
        const std::uint32_t size = std::min(in.u32(), kBulkMax);  // the noise test sends any value
        auto memory = std::make_shared<Bytes>(size, std::byte{7});
        reply.out.u32(size);
        reply.slices.push_back({.bytes = *memory, .length = size, .keep = memory});
        reply.slice_bytes = size;
        bulk_run.fetch_add(1);
        return {};
      }
      case kFile: {  // `size` bytes of the file from `offset`, then three bytes of memory
        const std::uint32_t offset = in.u32();
        const std::uint32_t size = in.u32();
        if (!in.ok() || file < 0 || size > kBulkMax) return {.accept = AcceptStatus::kGarbageArguments};
        static constexpr std::array<std::byte, 3> kTail{std::byte{1}, std::byte{2}, std::byte{3}};
        reply.slices.push_back({.fd = file, .file_offset = offset, .length = size});
        reply.slices.push_back({.bytes = kTail, .length = kTail.size()});
        reply.slice_bytes = size + 3;
        return {};
      }
      case kKeep:
        kept = call.back->keep();
        return {};
      default:
        return {};
    }
  }
  void encode_not_durable(const CallHeader&, Errc why, XdrWriter& out) override {
    out.u32(why == Errc::kNoSpace ? 28 : 999);
  }

  void open_gate() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  void wait_for_waiting(int n) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting >= n; });
  }

  std::atomic<std::uint32_t> count{0};
  std::atomic<std::uint32_t> bulk_run{0};
  int file = -1;
  std::weak_ptr<BackChannel> kept;
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  bool open = false;
};

class RpcServerTest : public testing::Test {
 protected:
  ~RpcServerTest() override {
    toy_.open_gate();
    server_.reset();
  }
  void start(const ServerOptions& options = {}) {
    Service service{
        .programs = test::plain_programs({&toy_}), .sync = [this](const core::PendingDurability& pending) -> Status {
          ++settled_;
          const bool sick = std::ranges::find(pending.written(), sick_file_.load()) != pending.written().end();
          if (store_full_) return fail(Errc::kNoSpace, "the disk is full");
          if (store_failed_ || sick) return fail(Errc::kIo, "the disk is gone");
          return {};
        }};
    auto server = Server::start(options, std::move(service), metrics_);
    ASSERT_TRUE(server) << describe(server.error());
    server_ = std::move(*server);
    port_ = server_->ports().front();
  }
  static CallSpec spec(std::uint32_t procedure, std::uint32_t xid = 1) {
    return {.xid = xid, .program = kToy, .version = 3, .procedure = procedure};
  }
  std::uint64_t metric(std::string_view line_start) {
    const std::string text = metrics_.render();
    const auto at = text.find("\n" + std::string(line_start) + " ");
    return at == text.npos ? 0 : std::stoull(text.substr(at + line_start.size() + 2));
  }

  MetricRegistry metrics_;
  ToyProgram toy_;
  std::atomic<int> settled_{0};
  std::atomic<bool> store_failed_{false}, store_full_{false};
  std::atomic<core::FileId> sick_file_{core::kNoFile};
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

TEST_F(RpcServerTest, AnswersACall) {
  start();
  WireClient client(port_);
  const auto reply = client.call(spec(kEcho, 77), Xdr().string("hello"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->xid, 77u);
  EXPECT_EQ(reply->reply_status, 0u);
  EXPECT_EQ(reply->accept_status, 0u);
  EXPECT_EQ(reply->results, Xdr().string("hello").bytes());
}

TEST_F(RpcServerTest, AnswersEachErrorOfTheRpcLayerInItsOwnWords) {
  start();
  WireClient client(port_);
  auto s = spec(kNull);
  s.program = 1;
  auto reply = client.call(s);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->accept_status, 1u) << "PROG_UNAVAIL";

  s = spec(kNull);
  s.version = 4;
  reply = client.call(s);
  EXPECT_EQ(reply->accept_status, 2u) << "PROG_MISMATCH";
  EXPECT_EQ(reply->low, 2u);
  EXPECT_EQ(reply->high, 3u);

  for (const std::uint32_t procedure : {6u, 8u, ~0u}) {
    reply = client.call(spec(procedure));
    EXPECT_EQ(reply->accept_status, 3u) << "PROC_UNAVAIL";
  }

  reply = client.call(spec(kEcho), Xdr().u32(5));
  EXPECT_EQ(reply->accept_status, 4u) << "GARBAGE_ARGS";
  EXPECT_TRUE(reply->results.empty());

  s = spec(kNull);
  s.rpc_version = 3;
  reply = client.call(s);
  EXPECT_EQ(reply->reply_status, 1u);
  EXPECT_EQ(reply->reject_status, 0u) << "RPC_MISMATCH";
  EXPECT_EQ(reply->low, 2u);
  EXPECT_EQ(reply->high, 2u);

  s = spec(kNull);
  s.auth_flavor = 6;
  reply = client.call(s);
  EXPECT_EQ(reply->reply_status, 1u);
  EXPECT_EQ(reply->reject_status, 1u) << "AUTH_ERROR";
  EXPECT_EQ(reply->auth_status, 1u);

  EXPECT_TRUE(client.call(spec(kNull))) << "the connection is as good as before";
}

TEST_F(RpcServerTest, ClosesOnWhatIsNoCall) {
  start();
  WireClient client(port_);
  client.send_record(Bytes(8));
  EXPECT_TRUE(client.closed_by_server());
  WireClient reply_sender(port_);
  reply_sender.send_record(Xdr().u32(1).u32(1).u32(0).u32(0).u32(0).u32(0).u32(0));
  EXPECT_TRUE(reply_sender.closed_by_server());
}

TEST_F(RpcServerTest, ClosesOnARecordBeyondTheLimit) {
  start();
  WireClient client(port_);
  client.send_raw(Xdr().u32(0x7fff'ffff));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(metric("stoa_nfs_connections_closed_total{reason=\"record_too_large\"}"), 1u);
}

TEST_F(RpcServerTest, AnswersPipelinedCallsAll) {
  start();
  WireClient client(port_);
  Bytes stream;
  for (std::uint32_t i = 0; i < 500; ++i) {
    const Bytes record = encode(spec(i % 3 == 0 ? kCount : kEcho, i), i % 3 == 0 ? Xdr() : Xdr().string("x"));
    const Bytes framed = Xdr().u32(0x8000'0000u | static_cast<std::uint32_t>(record.size())).raw(record).bytes();
    stream.insert(stream.end(), framed.begin(), framed.end());
  }
  client.send_raw(stream);
  std::vector<bool> seen(500);
  for (int i = 0; i < 500; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    ASSERT_FALSE(seen.at(reply->xid));
    seen[reply->xid] = true;
  }
  EXPECT_EQ(toy_.count, 167u);
  EXPECT_LT(settled_, 167) << "calls that came together wait together";
}

TEST_F(RpcServerTest, ASlowCallDoesNotHoldUpOthersOfItsConnection) {
  start();
  WireClient client(port_);
  client.send_record(encode(spec(kGate, 1)));
  toy_.wait_for_waiting(1);
  const auto quick = client.call(spec(kEcho, 2), Xdr().string("quick"));
  ASSERT_TRUE(quick);
  EXPECT_EQ(quick->xid, 2u);
  toy_.open_gate();
  EXPECT_EQ(client.receive()->xid, 1u);
}

TEST_F(RpcServerTest, HeavyCallsOfOneReceiveRunSideBySide) {
  start();
  WireClient client(port_);
  Bytes stream;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const Bytes record = encode(spec(kGate, i));
    const Bytes framed = Xdr().u32(0x8000'0000u | static_cast<std::uint32_t>(record.size())).raw(record).bytes();
    stream.insert(stream.end(), framed.begin(), framed.end());
  }
  client.send_raw(stream);
  toy_.wait_for_waiting(8);  // Would never come true if they ran one after the other.
  toy_.open_gate();
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(client.receive());
}

TEST_F(RpcServerTest, LongCallsLeaveWorkersForShortOnes) {
  start({.workers = 6});
  WireClient slow(port_);
  for (std::uint32_t i = 0; i < 40; ++i) {
    slow.send_record(encode(spec(kGate, i)));
    // One by one, so that each is received by itself, by any free worker.
    if (i < 2) toy_.wait_for_waiting(static_cast<int>(i) + 1);
  }
  WireClient other(port_);
  EXPECT_TRUE(other.call(spec(kEcho), Xdr().string("x")));
}

TEST_F(RpcServerTest, ReplaysTheReplyOfARepeatedCallAlsoOnAnotherConnection) {
  start();
  {
    WireClient client(port_);
    EXPECT_EQ(client.call(spec(kCount, 5))->results, Xdr().u32(1).bytes());
    EXPECT_EQ(client.call(spec(kCount, 5))->results, Xdr().u32(1).bytes());
  }
  WireClient again(port_);
  EXPECT_EQ(again.call(spec(kCount, 5))->results, Xdr().u32(1).bytes());
  EXPECT_EQ(again.call(spec(kCount, 6))->results, Xdr().u32(2).bytes());
  EXPECT_EQ(again.call(spec(kCount, 5), Xdr().u32(1))->results, Xdr().u32(3).bytes()) << "same xid, another call";
  EXPECT_EQ(toy_.count, 3u);
}

TEST_F(RpcServerTest, SaysSoWhenAChangeIsNotDurable) {
  start();
  store_failed_ = true;
  WireClient client(port_);
  EXPECT_EQ(client.call(spec(kCount, 5))->results, Xdr().u32(999).bytes());
  store_failed_ = false;
  EXPECT_EQ(client.call(spec(kCount, 5))->results, Xdr().u32(2).bytes()) << "the outcome was unknown, so it runs again";
  store_full_ = true;
  EXPECT_EQ(client.call(spec(kCount, 6))->results, Xdr().u32(28).bytes());
}

TEST_F(RpcServerTest, AChangeThatIsNotDurableFailsAloneInItsBatch) {
  start();
  sick_file_ = core::FileId{2};
  WireClient client(port_);
  Bytes three;
  for (const std::uint32_t xid : {1u, 2u, 3u}) {
    const Bytes record = encode(spec(kCount, xid));
    const Bytes framed = Xdr().u32(0x8000'0000u | static_cast<std::uint32_t>(record.size())).raw(record).bytes();
    three.insert(three.end(), framed.begin(), framed.end());
  }
  client.send_raw(three);
  const Bytes right[] = {Xdr().u32(1).bytes(), Xdr().u32(999).bytes(), Xdr().u32(3).bytes()};
  for (const Bytes& result : right) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->results, result);
  }
}

TEST_F(RpcServerTest, SendsLongRepliesWholeAndPadded) {
  start();
  WireClient client(port_);
  for (const std::uint32_t size : {1u, 70'001u, 1'000'000u}) {
    const auto reply = client.call(spec(kBulk), Xdr().u32(size));
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->results.size(), 4 + padded(size));
    EXPECT_EQ(reply->results[4 + size - 1], std::byte{7});
    for (std::size_t i = 4 + size; i < reply->results.size(); ++i) EXPECT_EQ(reply->results[i], std::byte{0});
  }
}

TEST_F(RpcServerTest, SendsRangesOfFiles) {
  toy_.file = memfd_create("slice", MFD_CLOEXEC);
  Bytes content(3'000'000);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 31 >> 3);
  ASSERT_EQ(write(toy_.file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  start();
  WireClient client(port_);
  // All at once, so that the socket fills and the rest has to wait for it.
  constexpr std::uint32_t kSize = 1'000'000;
  for (std::uint32_t i = 0; i < 40; ++i) client.send_record(encode(spec(kFile, i), Xdr().u32(i * 1000).u32(kSize)));
  for (int i = 0; i < 40; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->results.size(), padded(kSize + 3));
    EXPECT_EQ(std::memcmp(reply->results.data(), content.data() + reply->xid * 1000, kSize), 0);
    EXPECT_EQ(reply->results[kSize + 2], std::byte{3});
  }
  close(toy_.file);
}

TEST_F(RpcServerTest, HangsUpWhenAFileIsCutUnderItsReply) {
  toy_.file = memfd_create("slice", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(toy_.file, 1000), 0);
  start();
  WireClient client(port_);
  client.send_record(encode(spec(kFile, 1), Xdr().u32(0).u32(2000)));
  EXPECT_FALSE(client.receive());
  EXPECT_TRUE(WireClient(port_).call(spec(kNull)));
  close(toy_.file);
}

TEST_F(RpcServerTest, StopsReadingFromAClientThatTakesNoReplies) {
  ServerOptions options;
  options.limits.output_per_connection_max = 2 << 20;
  options.limits.in_flight_per_connection_max = 8;
  start(options);
  WireClient client(port_);
  const int small = 16 << 10;
  setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  constexpr std::uint32_t kCalls = 200;
  for (std::uint32_t i = 0; i < kCalls; ++i) client.send_record(encode(spec(kBulk, i), Xdr().u32(1 << 20)));
  // Another client is served as ever.
  WireClient other(port_);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(other.call(spec(kEcho), Xdr().string("x")));
  EXPECT_LT(toy_.bulk_run, kCalls / 2) << "replies are made only as they can be sent";
  for (std::uint32_t i = 0; i < kCalls; ++i) ASSERT_TRUE(client.receive()) << i;
  EXPECT_EQ(toy_.bulk_run, kCalls);
}

TEST_F(RpcServerTest, HoldsBackAConnectionWithTooManyCallsInFlight) {
  ServerOptions options;
  options.limits.in_flight_per_connection_max = 4;
  start(options);
  WireClient client(port_);
  Bytes stream;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const Bytes record = encode(spec(kGate, i));
    stream.insert(stream.end(), {std::byte{0x80}, std::byte{0}, std::byte{0}, static_cast<std::byte>(record.size())});
    stream.insert(stream.end(), record.begin(), record.end());
  }
  client.send_raw(stream);
  toy_.wait_for_waiting(3);
  WireClient other(port_);
  EXPECT_TRUE(other.call(spec(kEcho), Xdr().string("x")));
  {
    const std::lock_guard lock(toy_.mutex);
    EXPECT_LE(toy_.waiting, 5);
  }
  toy_.open_gate();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(client.receive());
}

TEST_F(RpcServerTest, RefusesConnectionsBeyondTheLimits) {
  ServerOptions options;
  options.limits.connections_per_address_max = 3;
  start(options);
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<WireClient>(port_));
    clients.back()->send_record(encode(spec(kGate)));
  }
  toy_.wait_for_waiting(3);
  WireClient fourth(port_);
  EXPECT_TRUE(fourth.closed_by_server());
  EXPECT_EQ(metric("stoa_nfs_connections_refused_total{limit=\"connections_per_address\"}"), 1u);
  toy_.open_gate();
  for (const auto& client : clients) EXPECT_TRUE(client->receive()) << "what is under way goes on";
}

TEST_F(RpcServerTest, IdleConnectionsOfAnAddressGiveWayToItsNewOnes) {
  ServerOptions options;
  options.limits.connections_per_address_max = 3;
  start(options);
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<WireClient>(port_));
    EXPECT_TRUE(clients.back()->call(spec(kNull)));
  }
  EXPECT_TRUE(clients[0]->call(spec(kNull)));
  EXPECT_TRUE(clients[1]->call(spec(kKeep))) << "called back over it";
  EXPECT_TRUE(clients[2]->call(spec(kNull)));
  // A connection is busy until its worker has put it down, which is a moment after the client has the reply.
  const auto all_are_idle = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  all_are_idle();
  WireClient fourth(port_);
  EXPECT_TRUE(fourth.call(spec(kNull)));
  EXPECT_TRUE(clients[0]->closed_by_server()) << "it was heard of longest ago";
  all_are_idle();
  WireClient fifth(port_);
  EXPECT_TRUE(fifth.call(spec(kNull)));
  EXPECT_TRUE(clients[2]->closed_by_server());
  EXPECT_TRUE(clients[1]->call(spec(kNull)));
  EXPECT_EQ(metric("stoa_nfs_connections_closed_total{reason=\"gave_way\"}"), 2u);
  EXPECT_EQ(metric("stoa_nfs_connections_refused_total{limit=\"connections_per_address\"}"), 0u);
}

TEST_F(RpcServerTest, AFewIdleAddressesDoNotFillTheServer) {
  ServerOptions options;
  options.limits.connections_max = 8;
  options.limits.connections_per_address_max = 4;
  start(options);
  WireClient good(port_, 9);
  EXPECT_TRUE(good.call(spec(kNull)));
  std::vector<std::unique_ptr<WireClient>> idle;
  for (std::uint8_t host = 1; host <= 3; ++host) {
    for (int i = 0; i < 4; ++i) {
      idle.push_back(std::make_unique<WireClient>(port_, host));
      EXPECT_TRUE(idle.back()->call(spec(kNull)));
    }
  }
  for (std::uint8_t host = 10; host < 20; ++host) {
    {
      WireClient other(port_, host);
      EXPECT_TRUE(other.call(spec(kNull)));
    }
    // The server has seen that it went: else the next one comes upon eight addresses with one connection each.
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
         metric("stoa_nfs_connections") > 7 && std::chrono::steady_clock::now() < until;) {
      std::this_thread::yield();
    }
  }
  EXPECT_TRUE(good.call(spec(kNull))) << "who has few keeps them";
  EXPECT_EQ(metric("stoa_nfs_connections_refused_total{limit=\"connections\"}"), 0u);
}

TEST_F(RpcServerTest, HalfSentRecordsHaveABudgetAndTheOldestGiveWay) {
  constexpr std::uint64_t kOne = wire::RecordPool::memory_of(3);
  ServerOptions options;
  options.limits.half_sent_memory_max = 4 * kOne;
  options.limits.half_sent_memory_per_address_max = 2 * kOne;
  options.limits.half_sent_patience =
      std::chrono::seconds(1);  // None at all would cut off a client that is just sending, on a busy machine.
  start(options);
  const Bytes half(500'000, std::byte{1});
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<WireClient>(port_, static_cast<std::uint8_t>(1 + i % 5)));
    int small = 64 << 10;
    setsockopt(clients.back()->fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const Bytes head = Xdr().u32(0x8000'0000u | (1u << 20)).bytes();
    send(clients.back()->fd(), head.data(), head.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    send(clients.back()->fd(), half.data(), half.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // The first one is the oldest: it has its memory before the others begin.
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
         i == 0 && metric("stoa_nfs_half_sent_memory_bytes") == 0 && std::chrono::steady_clock::now() < until;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Another client's record of the greatest size comes through whole.
  WireClient good(port_, 9);
  Bytes call = encode(spec(kEcho));
  call.resize(1 << 20);
  ASSERT_TRUE(good.send_record(call));
  const auto reply = good.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->accept_status, 0u);
  EXPECT_TRUE(clients.front()->closed_by_server());
  EXPECT_GE(metric("stoa_nfs_connections_closed_total{reason=\"half_sent\"}"), 1u);
}

TEST_F(RpcServerTest, TakesANewConnectionWhenOneHasGone) {
  ServerOptions options;
  options.limits.connections_max = 1;
  start(options);
  for (int i = 0; i < 20; ++i) {
    bool served = false;
    while (!served) {  // The server may notice the end of the last one a little later.
      WireClient client(port_);
      served = client.call(spec(kNull)).has_value();
    }
  }
}

TEST_F(RpcServerTest, ClosesAConnectionThatDoesNotFinishItsRecord) {
  ServerOptions options;
  options.limits.record_timeout = std::chrono::seconds(1);
  start(options);
  WireClient slow(port_);
  slow.send_raw(Xdr().u32(0x8000'0064).u32(1));
  EXPECT_TRUE(slow.closed_by_server());
  EXPECT_EQ(metric("stoa_nfs_connections_closed_total{reason=\"record_timeout\"}"), 1u);
}

TEST_F(RpcServerTest, ClosesAnIdleConnection) {
  ServerOptions options;
  options.limits.idle_timeout = std::chrono::seconds(1);
  start(options);
  WireClient client(port_);
  EXPECT_TRUE(client.call(spec(kNull)));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(metric("stoa_nfs_connections_closed_total{reason=\"idle_timeout\"}"), 1u);
}

TEST_F(RpcServerTest, AnswersAClientThatHasFinishedSending) {
  start();
  WireClient client(port_);
  client.send_record(encode(spec(kGate, 1)));
  client.send_record(encode(spec(kEcho, 2), Xdr().string("x")));
  client.finish_sending();
  toy_.wait_for_waiting(1);
  toy_.open_gate();
  EXPECT_TRUE(client.receive());
  EXPECT_TRUE(client.receive());
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(RpcServerTest, DrainsWhatRunsAndThenStops) {
  start();
  WireClient client(port_);
  client.send_record(encode(spec(kGate, 1)));
  toy_.wait_for_waiting(1);
  EXPECT_FALSE(server_->drain(std::chrono::milliseconds(20)));
  toy_.open_gate();
  EXPECT_TRUE(server_->drain(std::chrono::seconds(60)));
  EXPECT_TRUE(client.receive());
  server_->stop();
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(RpcServerTest, ManyClientsAtOnceGetTheirOwnReplies) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      WireClient client(port_);
      for (std::uint32_t i = 0; i < 300; ++i) {
        const std::string text = std::to_string(t) + "/" + std::to_string(i);
        const std::uint32_t kind = i % 10;
        const auto reply = kind == 9   ? client.call(spec(kBulk, i), Xdr().u32(100'000))
                           : kind == 8 ? client.call(spec(kCount, t << 16 | i))
                                       : client.call(spec(kEcho, i), Xdr().string(text));
        if (!reply) ++wrong;
        if (reply && kind < 8 && reply->results != Xdr().string(text).bytes()) ++wrong;
        if (reply && kind == 9 && reply->results.size() != 100'004) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(toy_.count, 8 * 30u);
}

TEST_F(RpcServerTest, SurvivesNoise) {
  start();
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    WireClient client(port_);
    Bytes record = encode(spec(random() % 5 == 3 ? 1 : random() % 3, random()), Xdr().string("some text"));
    for (std::uint32_t flips = random() % 6; flips > 0; --flips)
      record[random() % record.size()] = static_cast<std::byte>(random());
    record.resize(random() % 4 == 0 ? random() % (record.size() + 1) : record.size());
    if (random() % 2 == 0) {
      client.send_fragments(record, 1 + random() % 40);
    } else {
      client.send_record(record);
    }
    client.finish_sending();
    toy_.open_gate();
    while (client.receive_record()) {
    }
  }
  WireClient client(port_);
  EXPECT_TRUE(client.call(spec(kNull)));
}

}  // namespace
}  // namespace stoa::rpc

// The server with a toy protocol: records are cut, run and answered, and limits affect only the client that
// reached them.
#include "frontends/wire/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/frontends/wire/recall_table.h"
#include "tests/frontends/wire/toy_client.h"

namespace stoa::wire {
namespace {

using test::be32;
using test::be32_at;
using test::Bytes;
using test::toy_request;
using test::ToyClient;
using test::ToyReply;

// Requests in words: "echo TEXT" returns TEXT; "change" counts and waits for durability; "gate" waits until the
// gate opens. "lone" does so, and only one of them at a time; "bulk" sends 100 000 bytes without a copy; "pay"
// pays its QoS class; "lease" waits until the recalls of `leases` are answered, "heavy lease" does so in a worker of
// its own.
struct Toy {
  // What a request that waits must not leave behind.
  struct Mark {
    Mark() { ++alive; }
    ~Mark() { --alive; }
    Mark(const Mark&) = delete;
    static inline std::atomic<int> alive{0};
  };
  struct Tag {
    std::shared_ptr<Mark> mark{};
  };
  class Session {
   public:
    explicit Session(Connection<Toy>&) {}
    bool worth_keeping() const { return false; }
    void closed() { ++sessions_closed; }
    static inline std::atomic<int> sessions_closed{0};
  };
  struct Request {
    Tag tag{};
    CostClass cost_class = CostClass::kMemory;
    bool exclusive = false;
    bool free = false;
    bool may_wait = false;
    core::FileId waits_for = core::kNoFile;
    std::uint32_t id = 0;
    std::string words{};
  };
  class Handler;

  Framer framer() const {
    return {.header_bytes = 4,
            .read = [](const std::byte* header) -> Framer::Piece { return {.bytes = be32_at(header), .last = true}; }};
  }
  qos::Scheduler* scheduler() const { return limited == nullptr ? nullptr : &qos_classes; }
  core::StateTable* state() const { return &leases; }
  Status sync(const core::PendingDurability& pending) const {
    ++synced;
    const bool sick = std::ranges::find(pending.written(), sick_file.load()) != pending.written().end();
    return sick ? Status(fail(Errc::kIo, "the disk is gone")) : Status();
  }

  void open_gate() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  void pass_gate() {
    std::unique_lock lock(mutex);
    most_waiting = std::max(most_waiting, ++waiting);
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    --waiting;
    ++passed;
    changed.notify_all();
  }
  void wait_for_waiting(int n) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting >= n; });
  }
  void wait_for_passed(int n) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return passed >= n; });
  }

  mutable test::RecallTable leases;
  mutable qos::Scheduler qos_classes;
  std::shared_ptr<qos::QosClass> limited;  // not null: "pay" pays it
  mutable std::atomic<int> synced{0};
  std::atomic<std::uint64_t> count{0};
  std::atomic<int> lease_runs{0};
  std::atomic<core::FileId> sick_file{core::kNoFile};
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int waiting = 0, most_waiting = 0, passed = 0;
};

class Toy::Handler {
 public:
  explicit Handler(Toy& toy) : toy_(toy) {}
  void refresh() {}
  bool governs() const { return true; }
  Decoded decode(Connection<Toy>&, const Record& record, Clock::time_point, Request& request, ReplyBuffer& out) {
    if (record.bytes.size() < 4) return Decoded::kBroken;
    request.id = be32_at(record.bytes.data());
    request.words.assign(reinterpret_cast<const char*>(record.bytes.data()) + 4, record.bytes.size() - 4);
    const bool gate = request.words == "gate", lone = request.words == "lone", bulk = request.words == "bulk";
    request.exclusive = lone;
    const bool heavy_lease = request.words == "heavy lease";
    request.cost_class = gate || lone || bulk || heavy_lease ? CostClass::kHeavy : CostClass::kMemory;
    if (request.words == "change") request.cost_class = CostClass::kChange;
    if (request.words != "hello") return Decoded::kRun;
    append(request, "hello to you", out);
    return Decoded::kDone;
  }
  void charge(Connection<Toy>&, const Request& request, Clock::time_point, Charge& charge) {
    if (request.words != "pay") return;
    charge.path = {toy_.limited.get()};
    charge.price = qos::Price::write(1'000'000);
  }
  void append_busy(const Request& request, ReplyBuffer& out) { append(request, "busy", out); }
  // Whether the request waits. `out` gets its reply, if not.
  bool meet_lease(Request& request, ReplyBuffer& out) {
    ++toy_.lease_runs;
    if (toy_.leases.under_way && request.may_wait) {
      request.waits_for = core::FileId{7};
      if (request.tag.mark == nullptr) request.tag.mark = std::make_shared<Mark>();
      return true;
    }
    append(request, toy_.leases.under_way ? "later" : "done", out);
    return false;
  }
  Ran run(Connection<Toy>&, Record&, Request& request, Clock::time_point, core::PendingDurability* pending,
          ReplyBuffer& out, ReplyBuffer&) {
    if (request.words == "lease") return meet_lease(request, out) ? Ran::kWaits : Ran::kReplied;
    if (request.words == "change") {
      const std::uint64_t count = ++toy_.count;
      pending->add_written(core::FileId{count});
      append(request, std::to_string(count), out);
    } else {
      append(request, request.words.starts_with("echo ") ? request.words.substr(5) : request.words, out);
    }
    return Ran::kReplied;
  }
  Payload run_alone(Connection<Toy>&, Record&, Request& request, Clock::time_point, ReplyBuffer& out) {
    if (request.words == "heavy lease") return {.waits = meet_lease(request, out)};
    if (request.words != "bulk") {
      toy_.pass_gate();
      append(request, "passed", out);
      return {};
    }
    constexpr std::size_t kBytes = 100'000;
    auto memory = std::make_shared<Bytes>(kBytes, std::byte{'b'});
    static constexpr std::byte kTail[] = {std::byte{'.'}};
    out.append(be32(4 + kBytes + 1));
    out.append(be32(request.id));
    Payload payload{.tail = kTail};
    payload.slices.push_back({.bytes = *memory, .length = kBytes, .keep = memory});
    return payload;
  }
  void finish(const Request&, ReplyBuffer&, std::size_t) {}
  bool finishes(const Request&) const { return false; }
  void took(const Request&, std::chrono::nanoseconds) {}
  void durable(Request&, std::span<const std::byte>, Clock::time_point) {}
  void append_not_durable(Request& request, Errc, ReplyBuffer& out) { append(request, "not durable", out); }

 private:
  static void append(const Request& request, std::string_view words, ReplyBuffer& out) {
    out.append(toy_request(request.id, words));
  }
  Toy& toy_;
};

class WireServerTest : public testing::Test {
 protected:
  WireServerTest() {
    Toy::Session::sessions_closed = 0;
    toy_.leases.under_way = false;
  }
  ~WireServerTest() override {
    toy_.open_gate();
    server_.reset();
  }
  void start(const ServerLimits& limits = {}) {
    auto started = Server<Toy>::start({.name = "toy", .limits = limits}, toy_, metrics_);
    ASSERT_TRUE(started) << describe(started.error());
    server_ = std::move(*started);
    port_ = server_->ports().front();
  }
  std::uint64_t metric(std::string_view line_start) {
    const std::string text = metrics_.render();
    const auto at = text.find("\n" + std::string(line_start) + " ");
    return at == text.npos ? 0 : std::stoull(text.substr(at + line_start.size() + 2));
  }
  static Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  MetricRegistry metrics_;
  Toy toy_;
  std::unique_ptr<Server<Toy>> server_;
  std::uint16_t port_ = 0;
};

TEST_F(WireServerTest, ARecordThatComesByteByByteIsAnsweredOnce) {
  start();
  ToyClient client(port_);
  for (const std::byte byte : toy_request(7, "echo slowly")) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(client.receive(), (ToyReply{7, "slowly"}));
  EXPECT_EQ(client.call(8, "echo again"), (ToyReply{8, "again"}));
}

TEST_F(WireServerTest, HalfARecordHoldsUpNoOtherConnection) {
  start();
  ToyClient half(port_), whole(port_);
  const Bytes request = toy_request(1, "echo both halves");
  ASSERT_TRUE(half.send(std::span(request).first(9)));
  EXPECT_EQ(whole.call(2, "echo x"), (ToyReply{2, "x"}));
  ASSERT_TRUE(half.send(std::span(request).subspan(9)));
  EXPECT_EQ(half.receive(), (ToyReply{1, "both halves"}));
}

TEST_F(WireServerTest, ManyRecordsOfOneReceiveAreAnsweredAndWaitForDurabilityTogether) {
  start();
  ToyClient client(port_);
  constexpr std::uint32_t kRequests = 300;
  Bytes stream;
  for (std::uint32_t id = 0; id < kRequests; ++id)
    stream = joined({stream, toy_request(id, id % 3 == 0 ? "change" : id % 3 == 1 ? "echo x" : "hello")});
  client.send(stream);
  std::vector<bool> seen(kRequests);
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    ASSERT_FALSE(seen.at(reply->id));
    seen[reply->id] = true;
    if (reply->id % 3 == 1) {
      EXPECT_EQ(reply->words, "x");
    }
  }
  EXPECT_EQ(toy_.count, kRequests / 3);
  EXPECT_LT(toy_.synced, static_cast<int>(kRequests / 3));
}

TEST_F(WireServerTest, AChangeThatIsNotDurableFailsAlone) {
  start();
  toy_.sick_file = core::FileId{2};
  ToyClient client(port_);
  client.send(joined({toy_request(1, "change"), toy_request(2, "change"), toy_request(3, "change")}));
  EXPECT_EQ(client.receive(), (ToyReply{1, "1"}));
  EXPECT_EQ(client.receive(), (ToyReply{2, "not durable"}));
  EXPECT_EQ(client.receive(), (ToyReply{3, "3"}));
}

TEST_F(WireServerTest, ARecordOverTheLimitClosesItsConnectionOnly) {
  start();
  ToyClient other(port_), client(port_);
  client.send(be32(0x7fff'ffff));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(metric("stoa_toy_connections_closed_total{reason=\"record_too_large\"}"), 1u);
  EXPECT_EQ(other.call(1, "echo x"), (ToyReply{1, "x"}));
}

TEST_F(WireServerTest, ARecordThatTheProtocolDoesNotKnowClosesItsConnection) {
  start();
  ToyClient client(port_);
  client.send(joined({toy_request(1, "echo x"), be32(1), {std::byte{0}}}));
  while (client.receive()) {
  }
  EXPECT_EQ(metric("stoa_toy_connections_closed_total{reason=\"protocol_error\"}"), 1u);
}

TEST_F(WireServerTest, ASlowSenderIsClosedAndItsMemoryGivenBack) {
  start({.record_timeout = std::chrono::seconds(1)});
  ToyClient slow(port_);
  // Large enough to be received into memory of the pool.
  slow.send(joined({be32(200'000), Bytes(1000)}));
  EXPECT_TRUE(slow.closed_by_server());
  EXPECT_EQ(metric("stoa_toy_connections_closed_total{reason=\"record_timeout\"}"), 1u);
  while (metric("stoa_toy_record_memory_bytes") != 0) std::this_thread::yield();
}

TEST_F(WireServerTest, AClientMayDisconnectWithRequestsInFlight) {
  start();
  constexpr int kRequests = 4;
  {
    ToyClient client(port_);
    for (std::uint32_t id = 0; id < kRequests; ++id) client.send(toy_request(id, "gate"));
    toy_.wait_for_waiting(kRequests);
    client.disconnect();
  }
  EXPECT_EQ(ToyClient(port_).call(9, "echo x"), (ToyReply{9, "x"}));
  toy_.open_gate();
  toy_.wait_for_passed(kRequests);
  // Both connections go, and each session is closed once.
  while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
  server_->stop();
  EXPECT_EQ(Toy::Session::sessions_closed, 2);
}

TEST_F(WireServerTest, StopDropsRequestsThatWaitForRoom) {
  start({.in_flight_per_connection_max = 2});
  ToyClient client(port_);
  Bytes stream;
  for (std::uint32_t id = 0; id < 20; ++id) stream = joined({stream, toy_request(id, "gate")});
  client.send(stream);
  toy_.wait_for_waiting(1);
  client.disconnect();
  toy_.open_gate();
  server_->stop();
  EXPECT_EQ(Toy::Session::sessions_closed, 1);
  EXPECT_EQ(metric("stoa_toy_connections"), 0u);
}

TEST_F(WireServerTest, OfExclusiveRequestsOneRunsAtATime) {
  start();
  ToyClient client(port_);
  Bytes stream;
  for (std::uint32_t id = 0; id < 5; ++id) stream = joined({stream, toy_request(id, "lone")});
  client.send(stream);
  toy_.wait_for_waiting(1);
  EXPECT_EQ(client.call(9, "echo meanwhile"), (ToyReply{9, "meanwhile"}));
  toy_.open_gate();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.receive()->words, "passed");
  EXPECT_EQ(toy_.most_waiting, 1);
}

TEST_F(WireServerTest, HeavyRequestsRunSideBySideAndSlicesLeaveInOnePiece) {
  start();
  ToyClient client(port_);
  client.send(joined({toy_request(1, "gate"), toy_request(2, "gate"), toy_request(3, "bulk"), toy_request(4, "bulk")}));
  toy_.wait_for_waiting(2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive()->words, std::string(100'000, 'b') + ".");
  toy_.open_gate();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive()->words, "passed");
}

class WireQosClassesTest : public WireServerTest {
 protected:
  WireQosClassesTest() {
    toy_.limited = std::make_shared<qos::QosClass>();
    set_limit(1);
  }
  // A byte a second: requests that do not go at once wait for ever.
  void set_limit(std::optional<std::uint64_t> rate) {
    qos::Limits limits;
    limits.limit[qos::Resource::kWriteBytes] = rate;
    const std::pair<qos::QosClass*, qos::Limits> change{toy_.limited.get(), limits};
    toy_.qos_classes.change({&change, 1});
  }
  // The first request makes the debt, the second one waits.
  void pay_twice(ToyClient& client) {
    ASSERT_EQ(client.call(1, "pay"), (ToyReply{1, "pay"}));
    client.send(toy_request(2, "pay"));
    while (toy_.qos_classes.parked() != 1) std::this_thread::yield();
  }
};

TEST_F(WireQosClassesTest, ARequestThatWaitsForItsQosClassHoldsUpNoOther) {
  start();
  ToyClient client(port_);
  pay_twice(client);
  EXPECT_EQ(client.call(3, "echo x"), (ToyReply{3, "x"}));
  set_limit(std::nullopt);
  EXPECT_EQ(client.receive(), (ToyReply{2, "pay"}));
}

TEST_F(WireQosClassesTest, ARequestOfAClientThatHasGoneWaitsNoMore) {
  start();
  ToyClient client(port_);
  pay_twice(client);
  client.disconnect();
  while (toy_.qos_classes.parked() != 0) std::this_thread::yield();
  while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
  EXPECT_EQ(metric("stoa_toy_calls_parked_total"), 1u);
}

class WireRecallsTest : public WireServerTest {
 protected:
  WireRecallsTest() { toy_.leases.under_way = true; }
  void give_back() {
    toy_.leases.under_way = false;
    toy_.leases.answer();
  }
};

TEST_F(WireRecallsTest, ARequestThatWaitsForALeaseHoldsUpNoOther) {
  start();
  ToyClient client(port_);
  client.send(joined({toy_request(1, "lease"), toy_request(2, "change"), toy_request(3, "heavy lease")}));
  EXPECT_EQ(client.receive(), (ToyReply{2, "1"}));
  toy_.leases.wait_for_waiting(2);
  EXPECT_EQ(client.call(4, "echo x"), (ToyReply{4, "x"}));
  EXPECT_EQ(toy_.lease_runs, 2);
  give_back();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive()->words, "done");
  EXPECT_EQ(toy_.lease_runs, 4);
  EXPECT_EQ(metric("stoa_toy_recall_waits_total"), 2u);
  // All is as before: the connection is read, and closed when its peer goes.
  EXPECT_EQ(client.call(5, "echo x"), (ToyReply{5, "x"}));
  client.disconnect();
  while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
  EXPECT_EQ(Toy::Mark::alive, 0);
}

TEST_F(WireRecallsTest, ALeaseThatCameBackMeanwhileHoldsUpNobody) {
  start();
  ToyClient client(port_);
  toy_.leases.answered_meanwhile = true;
  // It meets leases again and again, and is answered in the end.
  EXPECT_EQ(client.call(1, "lease"), (ToyReply{1, "later"}));
  EXPECT_GT(toy_.lease_runs, 2);
  EXPECT_EQ(metric("stoa_toy_recall_waits_total"), 0u);
}

TEST_F(WireRecallsTest, ItIsAnsweredWhenItsTimeIsOver) {
  start({.recall_patience = std::chrono::milliseconds(1)});
  ToyClient client(port_);
  EXPECT_EQ(client.call(1, "lease"), (ToyReply{1, "later"}));
  EXPECT_EQ(client.call(2, "heavy lease"), (ToyReply{2, "later"}));
  EXPECT_EQ(toy_.lease_runs, 4);
  EXPECT_EQ(toy_.leases.waiting(), 0u);
}

TEST_F(WireRecallsTest, BeyondTheLimitItIsAnsweredAtOnce) {
  start({.waiting_per_connection_max = 1});
  ToyClient client(port_);
  client.send(joined({toy_request(1, "lease"), toy_request(2, "lease")}));
  EXPECT_EQ(client.receive(), (ToyReply{2, "later"}));
  EXPECT_EQ(metric("stoa_toy_recall_waits_refused_total"), 1u);
  give_back();
  EXPECT_EQ(client.receive(), (ToyReply{1, "done"}));
}

TEST_F(WireRecallsTest, AClientThatHasGoneLeavesNothingBehind) {
  start();
  for (const bool answered : {false, true}) {
    ToyClient client(port_);
    client.send(joined({toy_request(1, "lease"), toy_request(2, "heavy lease")}));
    toy_.leases.wait_for_waiting(2);
    client.disconnect();
    if (answered) toy_.leases.answer();
    while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
    while (Toy::Mark::alive != 0) std::this_thread::yield();
  }
  EXPECT_EQ(toy_.leases.waiting(), 0u);
}

TEST_F(WireRecallsTest, ADrainAnswersThemAndAStopDropsThem) {
  start();
  ToyClient client(port_), other(port_);
  client.send(toy_request(1, "lease"));
  toy_.leases.wait_for_waiting(1);
  EXPECT_TRUE(server_->drain(std::chrono::seconds(30)));
  EXPECT_EQ(client.receive(), (ToyReply{1, "later"}));
  server_->stop();
  server_.reset();
  start();
  ToyClient late(port_);
  late.send(toy_request(2, "lease"));
  toy_.leases.wait_for_waiting(1);
  server_->stop();
  EXPECT_EQ(Toy::Mark::alive, 0);
  EXPECT_EQ(toy_.leases.waiting(), 0u);
}

}  // namespace
}  // namespace stoa::wire

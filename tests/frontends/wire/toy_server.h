// The toy protocol over the server, and what its tests stand on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "frontends/wire/server.h"
#include "tests/frontends/wire/recall_table.h"
#include "tests/frontends/wire/toy_client.h"

namespace stoa::wire {

using test::be32;
using test::be32_at;
using test::Bytes;
using test::toy_request;
using test::ToyClient;
using test::ToyReply;

// Requests in words: "echo TEXT" says TEXT; "change" counts and waits for durability; "gate" waits until the gate
// opens; "lone" does so, and only one of them at a time; "bulk" sends 100 000 bytes without a copy; "pay" pays its
// QoS class; "lease" waits until the recalls of `leases` are answered, "heavy lease" does so in a worker of its own.
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
  std::shared_ptr<const tls::Context> tls() const { return nullptr; }
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

}  // namespace stoa::wire

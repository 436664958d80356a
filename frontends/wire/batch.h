// The requests of one receive: decoded, admitted, run in place or handed to others, and answered together.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontends/wire/deferred_replies.h"
#include "frontends/wire/engine.h"
#include "qos/scheduler.h"

namespace stoa::wire {

// Of one worker.
template <class P>
class Batch {
 public:
  using ConnectionRef = std::shared_ptr<Connection<P>>;

  explicit Batch(Engine<P>& engine) : engine_(engine), handler_(engine.protocol) {}

  // Takes over the records of a receive: its memory must stay until run() is done.
  void take(std::vector<Record>& records) {
    requests_.clear();
    for (Record& record : records) requests_.emplace_back().held.record = std::move(record);
  }
  // One that waited for its QoS classes.
  void take(Held<P> held) {
    requests_.clear();
    requests_.emplace_back().held = std::move(held);
  }
  // `holds`: the worker holds the receive side, and may release it early if `may_release`. Returns whether it still
  // does.
  bool run(const ConnectionRef& connection, Clock::time_point now, bool holds, bool may_release);
  // Runs a request that another worker has decoded before.
  void run_handed_over(const ConnectionRef& connection, Held<P>& held, Clock::time_point now);
  // Lets requests go on that waited for room, then reading.
  void pump(const ConnectionRef& connection);

 private:
  static constexpr std::size_t kSendEarly = std::size_t{256} << 10;  // replies gathered beyond this leave at once
  static constexpr std::size_t kKeepReplies = std::size_t{512} << 10;
  // The longest wait of a request for its QoS classes. NFS clients retransmit, or give up, after 60 s. When all slots
  // of a session wait, its lease is not renewed meanwhile, which clients do after 60 s of 90.
  static constexpr std::chrono::nanoseconds kParkedMax = std::chrono::seconds(20);

  // A bound where others take leases again and again as soon as they were recalled.
  static constexpr std::uint32_t kRecallWaitsMax = 16;
  // A waiting request takes more than its record.
  static constexpr std::uint64_t kWaitingBytes = 1024;

  struct Item {
    Held<P> held{};
    typename P::Request request{};
    bool elsewhere = false;  // is, or will be, run by another worker
  };

  // Keeps requests that may run now; replies to malformed ones. False: the peer does not speak the protocol.
  bool decode(Connection<P>& connection);
  void charge(Connection<P>& connection, const Item& item, Charge& charge);
  void admit(Connection<P>& connection);
  // Whether a request may run now. If not, it was parked, and its record is gone.
  qos::Verdict admit_one(Connection<P>& connection, Item& item, const Charge& charge, std::int64_t now);
  void choose_elsewhere(Connection<P>& connection);
  // A heavy request that this worker runs itself, last; null: there is none.
  Item* choose_alone(Connection<P>& connection);
  void run_in_place(Connection<P>& connection, std::size_t index);
  // Runs a request until it is answered or waits for a recall; gives what `run` gave.
  template <class Run>
  auto run_or_wait(Connection<P>& connection, Item& item, Run run);
  // False: it does not wait, and is to be run again.
  bool wait_for_recall(Connection<P>& connection, Item& item);
  void run_alone(Connection<P>& connection, Item& item);
  void sync();
  void hand_over(const ConnectionRef& connection, Item& item);
  void push(const ConnectionRef& connection, Held<P> held);
  void send_ready(Connection<P>& connection) {
    if (ready_.empty()) return;
    if (!connection.send(ready_.bytes())) engine_.connections.close(connection);
    ready_.clear(kKeepReplies);
  }

  Engine<P>& engine_;
  typename P::Handler handler_;
  std::vector<Item> requests_;
  std::vector<Charge> charges_;  // of requests_ while they are decoded; more of them are kept, with their memory
  ReplyBuffer ready_;            // replies that may leave now
  DeferredReplies<P> deferred_;
  Clock::time_point now_{};
};

template <class P>
bool Batch<P>::run(const ConnectionRef& connection, Clock::time_point now, bool holds, bool may_release) {
  Connection<P>& c = *connection;
  now_ = now;
  handler_.refresh();
  c.in_flight.begin();  // Keeps the connection open until the replies have left, also when the peer has finished.
  ready_.clear(kKeepReplies);
  deferred_.clear(kKeepReplies);
  const auto release_early = [&] {
    if (!holds || !may_release) return;
    holds = false;
    // This batch counts as one in flight; it must not hold back its own connection.
    if (!c.release_receive_side()) engine_.metrics.held_back.add();
  };

  if (!decode(c)) {
    engine_.metrics.closed_protocol_error.add();
    requests_.clear();
    c.in_flight.end();
    engine_.connections.close(c);
    return false;
  }
  choose_elsewhere(c);
  Item* const alone = choose_alone(c);
  for (Item& item : requests_) {
    if (item.elsewhere && &item != alone) hand_over(connection, item);
  }
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (!requests_[i].elsewhere) run_in_place(c, i);
  }
  if (deferred_.empty() || !deferred_.pending()) {
    // Nothing to wait for: all replies leave together.
    if (!deferred_.empty()) {
      sync();
      ready_.append(deferred_.buffer().bytes());
    }
    if (alone != nullptr) release_early();
    send_ready(c);
  } else {
    release_early();
    send_ready(c);
    sync();
    if (!c.send(deferred_.buffer().bytes())) engine_.connections.close(c);
  }
  if (alone != nullptr) {
    run_alone(c, *alone);
    engine_.tasks.done();
  }
  requests_.clear();  // and the memory of their records
  c.in_flight.end();
  if (!holds) pump(connection);
  return holds;
}

// --- decode, admit

template <class P>
bool Batch<P>::decode(Connection<P>& connection) {
  // The QoS classes of a whole batch are found before the first request is admitted, because the processor meanwhile
  // fetches the memory that admission reads.
  const bool governed = engine_.protocol.scheduler() != nullptr && handler_.governs();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    Item& item = requests_[i];
    item.request.tag = std::move(item.held.tag);
    const Admission asked = std::exchange(item.held.admission, Admission::kNotParked);
    const Decoded decoded = handler_.decode(connection, item.held.record, now_, item.request, ready_);
    if (decoded == Decoded::kBroken) return false;
    if (decoded == Decoded::kDone) continue;
    if (asked == Admission::kRefused) {
      handler_.append_busy(item.request, ready_);
      continue;
    }
    if (governed) {
      if (charges_.size() == kept) charges_.emplace_back();
      Charge& due = charges_[kept];
      due.path.clear();
      due.price = {};
      if (asked == Admission::kNotParked && !item.request.free) charge(connection, item, due);
    }
    if (kept != i) requests_[kept] = std::move(item);
    ++kept;
  }
  requests_.resize(kept);
  if (governed) admit(connection);
  return true;
}

template <class P>
void Batch<P>::charge(Connection<P>& connection, const Item& item, Charge& charge) {
  handler_.charge(connection, item.request, now_, charge);
  for (const qos::QosClass* qos_class : charge.path) qos_class->prefetch(charge.price.kind());
}

template <class P>
void Batch<P>::admit(Connection<P>& connection) {
  const std::int64_t now = engine_.protocol.scheduler()->now();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const qos::Verdict verdict = admit_one(connection, requests_[i], charges_[i], now);
    if (verdict == qos::Verdict::kBusy) handler_.append_busy(requests_[i].request, ready_);
    if (verdict != qos::Verdict::kGranted) continue;
    if (kept != i) requests_[kept] = std::move(requests_[i]);
    ++kept;
  }
  requests_.resize(kept);
}

template <class P>
qos::Verdict Batch<P>::admit_one(Connection<P>& connection, Item& item, const Charge& charge, std::int64_t now) {
  using qos::Verdict;
  if (charge.path.empty() || charge.price.free()) return Verdict::kGranted;
  qos::Scheduler& scheduler = *engine_.protocol.scheduler();
  if (scheduler.admit(charge.path, charge.price, now)) return Verdict::kGranted;

  // It counts as in flight on its connection, which bounds one client's parked requests, but not in the server's
  // total.
  connection.in_flight.begin();
  item.held.record.own();
  item.held.tag = item.request.tag;
  const auto task =
      std::make_shared<Task<P>>(Task<P>{.connection = connection.shared_from_this(), .held = std::move(item.held)});
  const Verdict verdict = scheduler.park(charge.path, charge.price,
                                         {.deadline = qos::steady_ns() + kParkedMax.count(),
                                          .owner = &connection,
                                          .resume = [&engine = engine_, task](bool granted) {
                                            task->held.admission = granted ? Admission::kGranted : Admission::kRefused;
                                            engine.in_flight.fetch_add(1);
                                            engine.tasks.push(std::move(*task));
                                          }});
  if (verdict == Verdict::kParked) {
    engine_.metrics.parked.add();
    // Closed meanwhile: that may have come too early to find the request.
    if (connection.closed.load()) scheduler.cancel(&connection);
    return verdict;
  }
  connection.in_flight.end();
  item.held = std::move(task->held);
  return verdict;
}

// --- where each is run

template <class P>
void Batch<P>::choose_elsewhere(Connection<P>& connection) {
  for (Item& item : requests_) {
    const CostClass cost_class = item.request.cost_class;
    item.elsewhere =
        cost_class == CostClass::kHeavy || item.request.exclusive ||
        ((cost_class == CostClass::kData || cost_class == CostClass::kSync) && connection.slow.take(cost_class));
  }
}

template <class P>
Batch<P>::Item* Batch<P>::choose_alone(Connection<P>& connection) {
  if (connection.output.backlog_high() || connection.in_flight.has_parked()) return nullptr;
  Item* alone = nullptr;
  for (Item& item : requests_) {
    const CostClass cost_class = item.request.cost_class;
    if (!item.elsewhere && (cost_class == CostClass::kChange || cost_class == CostClass::kSync)) return nullptr;
    if (item.elsewhere && !item.request.exclusive) alone = &item;
  }
  return alone != nullptr && engine_.tasks.claim() ? alone : nullptr;
}

template <class P>
void Batch<P>::hand_over(const ConnectionRef& connection, Item& item) {
  Connection<P>& c = *connection;
  item.held.record.own();
  item.held.tag = std::move(item.request.tag);
  item.held.exclusive = item.request.exclusive;
  const std::uint32_t mine = c.in_flight.count();
  const bool all_full = engine_.in_flight.load(std::memory_order_relaxed) >= engine_.options.limits.in_flight_max;
  if (c.in_flight.full() || c.output.backlog_high() || c.in_flight.has_parked() || (all_full && mine > 1))
    return c.in_flight.park(std::move(item.held));
  engine_.metrics.handed_over.add();
  push(connection, std::move(item.held));
}

template <class P>
void Batch<P>::push(const ConnectionRef& connection, Held<P> held) {
  connection->in_flight.begin();
  engine_.in_flight.fetch_add(1);
  engine_.tasks.push({.connection = connection, .held = std::move(held)});
}

template <class P>
void Batch<P>::pump(const ConnectionRef& connection) {
  Connection<P>& c = *connection;
  if (c.closed.load(std::memory_order_relaxed)) return;
  Held<P> held;
  while (c.take_parked(held)) push(connection, std::move(held));
  c.resume_if_held();
  engine_.connections.close_if_finished(c);
}

// --- run

template <class P>
void Batch<P>::run_in_place(Connection<P>& c, std::size_t index) {
  Item& item = requests_[index];
  const CostClass cost_class = item.request.cost_class;
  if (ready_.size() > kSendEarly) send_ready(c);
  if (cost_class == CostClass::kData && c.output.backlog_high()) {
    item.held.record.own();
    item.held.tag = std::move(item.request.tag);
    return c.in_flight.park(std::move(item.held));
  }
  const Clock::time_point began = now_;
  const bool waits = cost_class == CostClass::kChange || cost_class == CostClass::kSync;
  ReplyBuffer& out = waits ? deferred_.buffer() : ready_;
  const std::size_t ready_at = ready_.size();
  const auto mark = deferred_.begin();
  const Ran ran = run_or_wait(c, item, [&] {
    core::PendingDurability* const pending = waits ? &deferred_.pending_list() : nullptr;
    return handler_.run(c, item.held.record, item.request, now_, pending, out, ready_);
  });
  if (ran == Ran::kAnswered || ran == Ran::kWaits) return;
  now_ = Clock::now();
  const auto took = now_ - began;
  c.slow.note(cost_class, took);
  if (waits) return deferred_.add(index, mark, ran == Ran::kFailed, began);
  handler_.finish(item.request, ready_, ready_at);
  handler_.took(item.request, took);
}

template <class P>
template <class Run>
auto Batch<P>::run_or_wait(Connection<P>& connection, Item& item, Run run) {
  const auto has_to_wait = [](const auto& ran) {
    if constexpr (std::is_same_v<std::decay_t<decltype(ran)>, Ran>) {
      return ran == Ran::kWaits;
    } else {
      return ran.waits;
    }
  };
  for (;;) {
    const RecallWaits& waited = item.held.recalls;
    item.request.may_wait = engine_.waiting.takes_any() && !waited.over && waited.times < kRecallWaitsMax;
    auto ran = run();
    if (!has_to_wait(ran) || wait_for_recall(connection, item)) return ran;
  }
}

template <class P>
bool Batch<P>::wait_for_recall(Connection<P>& connection, Item& item) {
  Held<P>& held = item.held;
  if (held.recalls.times++ == 0) held.recalls.since = now_;
  // The decoded request may go on pointing into the receive buffer: it is done with before that is used again.
  held.record.own();
  held.tag = std::move(item.request.tag);
  const std::uint64_t bytes = held.record.memory ? held.record.memory.size() : held.record.bytes.size();
  // It counts among the requests in flight of its connection, which so stays open, and not among those of all.
  connection.in_flight.begin();
  const Clock::time_point until = held.recalls.since + engine_.options.limits.recall_patience;
  const auto task =
      std::make_shared<Task<P>>(Task<P>{.connection = connection.shared_from_this(), .held = std::move(held)});
  WaitingRequests::Request request{.owner = &connection,
                                   .bytes = bytes + kWaitingBytes,
                                   .until = until,
                                   .resume = [&engine = engine_, task](bool over) {
                                     // It has paid.
                                     task->held.admission = Admission::kGranted;
                                     task->held.recalls.over = over;
                                     engine.in_flight.fetch_add(1);
                                     engine.tasks.push(std::move(*task));
                                   }};
  const auto outcome = engine_.waiting.park(item.request.waits_for, request);
  if (outcome == WaitingRequests::Outcome::kWaits) {
    engine_.metrics.recall_waits.add();
    engine_.watch_waiting();
    // The connection may have ended too early to find the request.
    if (connection.closed.load()) {
      engine_.waiting.cancel(&connection);
    } else if (connection.end_of_input.load()) {
      engine_.waiting.finish(&connection);
    }
    return true;
  }
  connection.in_flight.end();
  held = std::move(task->held);
  item.request.tag = std::move(held.tag);
  held.recalls.over = outcome == WaitingRequests::Outcome::kFull;
  return false;
}

template <class P>
void Batch<P>::sync() {
  now_ = deferred_.sync(engine_.protocol, handler_, engine_.options.name,
                        [this](std::size_t index) -> typename P::Request& { return requests_[index].request; });
}

template <class P>
void Batch<P>::run_alone(Connection<P>& c, Item& item) {
  ready_.clear(kKeepReplies);
  const Clock::time_point began = now_;
  Payload payload =
      run_or_wait(c, item, [&] { return handler_.run_alone(c, item.held.record, item.request, now_, ready_); });
  if (payload.send && !payload.waits) {
    now_ = Clock::now();
    handler_.took(item.request, now_ - began);
    const bool sent = payload.slices.empty() ? c.send(ready_.bytes())
                                             : c.send(ready_.bytes(), std::move(payload.slices), payload.tail);
    if (!sent) engine_.connections.close(c);
  }
  ready_.clear(kKeepReplies);
}

template <class P>
void Batch<P>::run_handed_over(const ConnectionRef& connection, Held<P>& held, Clock::time_point now) {
  now_ = now;
  handler_.refresh();
  Item item{.held = std::move(held)};
  item.request.tag = std::move(item.held.tag);
  ReplyBuffer nothing;
  if (handler_.decode(*connection, item.held.record, now_, item.request, nothing) == Decoded::kRun)
    run_alone(*connection, item);
}

}  // namespace stoa::wire

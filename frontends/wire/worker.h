// One thread of a server: waits for events and tasks, and receives from one connection at a time.
#pragma once

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontends/wire/batch.h"
#include "frontends/wire/engine.h"

namespace stoa::wire {

template <class P>
class Worker {
 public:
  explicit Worker(Engine<P>& engine)
      : engine_(engine), batch_(engine), scratch_(new std::byte[Receiver::kScratchBytes]) {}
  void run();

 private:
  using ConnectionRef = std::shared_ptr<Connection<P>>;
  static constexpr int kRoundsMax = 32;  // receives from one connection before others get a turn
  // A client that sends one request and waits for its reply. After this many in a row, its connection stays with the
  // worker, which polls for the next one itself for a while. A wake-up would cost each some 35 us more.
  static constexpr std::uint32_t kSerialRequests = 16;
  static constexpr std::chrono::microseconds kBusyPoll{100};

  void handle_event(std::uint64_t key, std::uint32_t events);
  void handle_input(const ConnectionRef& connection);
  // False: the connection was closed.
  bool receive(Connection<P>& connection, Receiver::Outcome& outcome);
  // What TLS asks for after a receive. False: the connection was closed.
  bool receive_tls(Connection<P>& connection, Receiver::Outcome outcome);
  // Whether the client's next request came before long.
  bool busy_poll(Connection<P>& connection);
  void run_task(Task<P>& task);

  Engine<P>& engine_;
  Batch<P> batch_;
  const std::unique_ptr<std::byte[]> scratch_;
  std::vector<Record> records_;
  Clock::time_point now_{};  // of the last receive
};

template <class P>
void Worker<P>::run() {
  pthread_setname_np(pthread_self(), (engine_.options.name + "-worker").substr(0, 15).c_str());
  // sendfile(2) to a socket that the peer has closed raises SIGPIPE, and has no flag against it.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);

  while (!engine_.stopping.load(std::memory_order_relaxed)) {
    Task<P> task;
    if (engine_.tasks.pop(task)) {
      engine_.busy.fetch_add(1);
      const bool exclusive = task.exclusive();
      run_task(task);
      task = {};
      if (exclusive) {
        engine_.tasks.exclusive_done();
      } else {
        engine_.tasks.done();
      }
      engine_.busy.fetch_sub(1);
      continue;
    }
    if (!engine_.tasks.begin_idle()) continue;
    epoll_event event{};
    const int n = epoll_wait(engine_.epoll, &event, 1, -1);
    engine_.busy.fetch_add(n > 0 ? 1 : 0);
    engine_.tasks.end_idle();
    if (n <= 0) continue;
    handle_event(event.data.u64, event.events);
    engine_.busy.fetch_sub(1);
  }
}

template <class P>
void Worker<P>::handle_event(std::uint64_t key, std::uint32_t events) {
  if (key == Engine<P>::kWakeKey) {
    std::uint64_t one = 0;
    if (engine_.stopping.load()) return;  // Leaves the count for the others.
    [[maybe_unused]] const ssize_t n = read(engine_.wake_fd, &one, sizeof one);
    return;
  }
  if (key >= Listening::kFirstKey) return engine_.accept(key);

  const ConnectionRef connection = engine_.connections.find(key);
  if (!connection) return;
  const Interest::Ready ready = connection->interest.take(events);
  if (ready.out) {
    if (!connection->flush()) return engine_.connections.close(*connection);
    batch_.pump(connection);
  }
  if (ready.in) handle_input(connection);
}

template <class P>
bool Worker<P>::receive(Connection<P>& c, Receiver::Outcome& outcome) {
  records_.clear();
  if (!c.began) {
    const auto began = c.begin(engine_.protocol.tls());
    if (began == Connection<P>::Began::kBroken) {
      engine_.connections.close(c);
      return false;
    }
    outcome = Receiver::Outcome::kDry;
    if (began == Connection<P>::Began::kNo) return true;
    c.began = true;
    if (c.tls != nullptr) engine_.metrics.tls.add();
  }
  outcome = c.receiver.receive(c.fd, std::span(scratch_.get(), Receiver::kScratchBytes), records_);
  if (c.tls != nullptr && !receive_tls(c, outcome)) return false;
  if (outcome == Receiver::Outcome::kOversized) {
    engine_.metrics.closed_oversized.add();
    engine_.connections.close(c);
    return false;
  }
  now_ = Clock::now();
  const std::int64_t now_ns = now_.time_since_epoch().count();
  Activity& activity = c.activity;
  if (!records_.empty()) activity.last_input_ns.store(now_ns, std::memory_order_relaxed);
  const bool partial = c.receiver.partial() || (c.tls != nullptr && c.tls->partial());
  if (!partial || outcome == Receiver::Outcome::kNoMemory) {
    activity.partial_since_ns.store(0, std::memory_order_relaxed);
  } else if (!records_.empty() || activity.partial_since_ns.load(std::memory_order_relaxed) == 0) {
    activity.partial_since_ns.store(now_ns, std::memory_order_relaxed);
  }
  activity.holds_memory.store(c.receiver.holds_memory(), std::memory_order_relaxed);
  if (outcome == Receiver::Outcome::kClosed) c.end_of_input.store(true);
  return true;
}

template <class P>
bool Worker<P>::receive_tls(Connection<P>& c, Receiver::Outcome outcome) {
  c.interest.note_unread(c.tls->may_hold_more());
  if (outcome == Receiver::Outcome::kClosed && !c.tls->established()) engine_.metrics.closed_tls.add();
  // Of the handshake, or the alert that tells why there is none.
  if (!c.tls->has_output() || c.send({})) return true;
  engine_.connections.close(c);
  return false;
}

template <class P>
void Worker<P>::handle_input(const ConnectionRef& connection) {
  using Outcome = Receiver::Outcome;
  Connection<P>& c = *connection;
  bool waited = true;  // since the last reply there was nothing to read
  for (int round = 0; round < kRoundsMax; ++round) {
    if (engine_.draining.load(std::memory_order_relaxed)) return;  // Reads no more; keeps the receive side for ever.
    Outcome outcome{};
    if (!receive(c, outcome)) return;
    bool holds = true;
    const bool had_records = !records_.empty();
    if (had_records) {
      const bool serial = waited && records_.size() == 1 && c.in_flight.count() == 0;
      c.serial_requests = serial ? c.serial_requests + 1 : 0;
      waited = false;
      const bool may_release =
          c.serial_requests < kSerialRequests && (outcome == Outcome::kDry || outcome == Outcome::kMore);
      batch_.take(records_);
      holds = batch_.run(connection, now_, true, may_release);
    }
    if (outcome == Outcome::kClosed) {
      // The peer has most likely gone: no other call waits for it, and one that still listens must retry.
      if (qos::Scheduler* const scheduler = engine_.protocol.scheduler()) scheduler->refuse(&c);
      engine_.waiting.finish(&c);
      return engine_.connections.close_if_finished(c);
    }
    if (c.closed.load(std::memory_order_relaxed) || !holds) return;
    if (outcome == Outcome::kNoMemory) return engine_.wait_for_memory(connection);
    // After a batch, a busy client has often sent more already: looking costs less than a turn through epoll.
    if (outcome == Outcome::kDry && !had_records) {
      if (c.serial_requests < kSerialRequests || !busy_poll(c)) break;
      waited = true;
      round = 0;
    }
  }
  if (!c.release_receive_side()) {
    engine_.metrics.held_back.add();
    batch_.pump(connection);
  }
}

// One worker at a time does this, so that it costs one processor at most.
template <class P>
bool Worker<P>::busy_poll(Connection<P>& connection) {
  if (engine_.busy_polling.exchange(true)) return false;
  const Clock::time_point until = Clock::now() + kBusyPoll;
  char byte = 0;
  ssize_t n = -1;
  while (n < 0 && Clock::now() < until) {
    n = recv(connection.fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) break;
  }
  engine_.busy_polling.store(false);
  if (n < 0) connection.serial_requests = 0;  // it has something else to do
  return n >= 0;
}

template <class P>
void Worker<P>::run_task(Task<P>& task) {
  Connection<P>& c = *task.connection;
  now_ = Clock::now();
  if (task.receive) {
    if (!c.closed.load()) handle_input(task.connection);
    return;
  }
  if (!c.closed.load(std::memory_order_relaxed)) {
    if (task.held.admission != Admission::kNotParked) {
      // Any kind of request waits for its QoS classes: it goes on as if it had just come.
      batch_.take(std::move(task.held));
      batch_.run(task.connection, now_, false, false);
    } else {
      batch_.run_handed_over(task.connection, task.held, now_);
    }
  }
  c.in_flight.end();
  engine_.in_flight.fetch_sub(1);
  batch_.pump(task.connection);
}

}  // namespace stoa::wire

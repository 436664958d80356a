// State shared by the workers, the housekeeper and the owner of a server.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "frontends/wire/connection_table.h"
#include "frontends/wire/limits.h"
#include "frontends/wire/listening.h"
#include "frontends/wire/protocol.h"
#include "frontends/wire/record_pool.h"
#include "frontends/wire/server_metrics.h"
#include "frontends/wire/task_queue.h"
#include "frontends/wire/waiting_requests.h"

namespace stoa::wire {

template <class P>
class Engine {
 public:
  using ConnectionRef = std::shared_ptr<Connection<P>>;
  // Of the epoll event that wakes one worker. Keys from Listening::kFirstKey on are of listeners, lower ones of
  // connections.
  static constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};
  // Short requests must find a worker while long ones run.
  static constexpr std::uint32_t kReservedWorkers = 4;

  Engine(const ServerOptions& wanted, P& carried, MetricRegistry& registry)
      : options(with_defaults(wanted)),
        protocol(carried),
        metrics(registry, options.name),
        pool({options.limits.record_memory_max, options.limits.record_memory_per_address_max},
             {options.limits.half_sent_memory_max, options.limits.half_sent_memory_per_address_max}, kIdleRecordMemory),
        output{.bytes_max = options.limits.output_max},
        epoll(epoll_create1(EPOLL_CLOEXEC)),
        wake_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)),
        tasks(wake_fd, options.workers - kReservedWorkers),
        listening(epoll, options.name),
        waiting(protocol.state(), options.limits, metrics.recall_waits_refused),
        connections(options.limits, protocol, epoll, pool, output, metrics, waiting) {}
  ~Engine() {
    ::close(wake_fd);
    ::close(epoll);
  }
  Engine(const Engine&) = delete;

  Status listen() {
    if (epoll < 0 || wake_fd < 0) return fail_errno(errno, "epoll");
    epoll_event wake{};
    wake.events = EPOLLIN | EPOLLEXCLUSIVE;
    wake.data.u64 = kWakeKey;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, wake_fd, &wake) != 0)
      return fail_errno(errno, "epoll of the wake-up descriptor");
    return listening.listen(options.listen);
  }
  void accept(std::uint64_t key) {
    if (!listening.accept(key, [this](int fd) { connections.admit(fd); })) house_wake_.notify_one();
  }

  // The receive side of this connection waits until the record pool has room; the caller no longer holds it.
  void wait_for_memory(ConnectionRef connection) {
    metrics.record_memory_waits.add();
    {
      const std::lock_guard lock(waiting_mutex_);
      waiting_.push_back(std::move(connection));
    }
    house_wake_.notify_one();
  }
  // The next time-out of a waiting request may have come nearer.
  void watch_waiting() {
    {
      const std::lock_guard lock(house_mutex_);
    }
    house_wake_.notify_one();
  }

  // The loop of the housekeeper: time-outs, and connections that wait for memory or descriptors.
  void keep_house();
  // False: it was stopped before.
  bool stop_house() {
    {
      const std::lock_guard lock(house_mutex_);
      if (stopping.exchange(true)) return false;
    }
    house_wake_.notify_all();
    return true;
  }
  // With no worker running. When it returns, there are no connections any more.
  void close_all();

  const ServerOptions options;
  P& protocol;
  ServerMetrics metrics;
  RecordPool pool;
  AllOutput output;
  const int epoll;
  const int wake_fd;
  TaskQueue<Task<P>> tasks;
  Listening listening;
  WaitingRequests waiting;
  ConnectionTable<P> connections;

  std::atomic<bool> stopping{false};
  std::atomic<bool> draining{false};
  std::atomic<bool> busy_polling{false};    // a worker polls for the next request of its client
  std::atomic<std::uint32_t> busy{0};       // workers that are not asleep
  std::atomic<std::uint32_t> in_flight{0};  // requests handed over

 private:
  static constexpr std::uint64_t kIdleRecordMemory = std::uint64_t{32} << 20;
  static ServerOptions with_defaults(ServerOptions options) {
    // Workers wait for disks more than they compute: many more than cores.
    if (options.workers == 0) options.workers = std::max(24u, 4 * std::thread::hardware_concurrency());
    options.workers = std::max(options.workers, kReservedWorkers + 1);
    return options;
  }
  bool waits() {
    const std::lock_guard lock(waiting_mutex_);
    return !waiting_.empty() || listening.paused();
  }
  void wake_memory_waiters();
  void show_gauges();

  std::mutex waiting_mutex_;  // guards waiting_
  std::vector<ConnectionRef> waiting_;
  std::mutex house_mutex_;  // guards nothing but the sleep of the housekeeper
  std::condition_variable house_wake_;
};

template <class P>
void Engine<P>::keep_house() {
  constexpr auto kSweepEvery = std::chrono::seconds(1);
  constexpr auto kRetryEvery = std::chrono::milliseconds(10);  // only while something waits for memory or descriptors
  constexpr int kTrimSweeps = 30;
  auto next_sweep = Clock::now() + kSweepEvery;
  int sweeps = 0;
  while (!stopping.load()) {
    const bool retries = waits();
    {
      std::unique_lock lock(house_mutex_);
      if (stopping.load()) return;
      if (retries) {
        house_wake_.wait_for(lock, kRetryEvery);
      } else {
        house_wake_.wait_until(lock, std::min(next_sweep, waiting.next_expiry()));
      }
    }
    wake_memory_waiters();
    listening.resume();
    waiting.expire(Clock::now());
    if (Clock::now() < next_sweep) continue;
    next_sweep = Clock::now() + kSweepEvery;
    connections.sweep();
    show_gauges();
    if (++sweeps % kTrimSweeps == 0 && pool.bytes_in_use() == 0) pool.trim();
  }
}

template <class P>
void Engine<P>::wake_memory_waiters() {
  std::vector<ConnectionRef> waiters;
  {
    const std::lock_guard lock(waiting_mutex_);
    waiters.swap(waiting_);
  }
  if (!waiters.empty()) connections.close_oldest_half_sent();
  for (ConnectionRef& connection : waiters) {
    if (!connection->closed.load()) tasks.push({.connection = std::move(connection), .receive = true});
  }
}

template <class P>
void Engine<P>::show_gauges() {
  metrics.in_flight.set(in_flight.load());
  metrics.output_bytes.set(static_cast<std::int64_t>(output.bytes.load()));
  metrics.record_bytes.set(static_cast<std::int64_t>(pool.bytes_in_use()));
  metrics.half_sent_bytes.set(static_cast<std::int64_t>(pool.bytes_half_sent()));
  metrics.waiting.set(static_cast<std::int64_t>(waiting.count()));
  metrics.waiting_bytes.set(static_cast<std::int64_t>(waiting.bytes()));
}

template <class P>
void Engine<P>::close_all() {
  connections.close_all();
  {
    const std::lock_guard lock(waiting_mutex_);
    waiting_.clear();
  }
  // A request that was just granted may still become a task.
  if (qos::Scheduler* const scheduler = protocol.scheduler()) scheduler->quiesce();
  waiting.close();
  tasks.clear();
  connections.wait_until_gone();
}

}  // namespace stoa::wire

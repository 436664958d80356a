// What the workers, the housekeeper and the owner of a server share. Internal to rpc/.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "frontends/nfs/rpc/connection.h"
#include "frontends/nfs/rpc/gss_server.h"
#include "frontends/nfs/rpc/record_pool.h"
#include "frontends/nfs/rpc/server.h"
#include "frontends/nfs/rpc/server_metrics.h"
#include "frontends/nfs/rpc/task_queue.h"

namespace stoa::rpc {

struct ServerState {
  ServerState(const ServerOptions& options, Service service, MetricRegistry& registry);
  ~ServerState();

  // --- connections; connection_table.cc
  // --------------------------------------------------------------------------------- Null: closed since the event was
  // reported.
  std::shared_ptr<Connection> find(std::uint64_t epoll_key);
  // Accepts what waits on the listener and arms it again.
  void accept_from(std::size_t listener);
  // Takes the connection out of the table; the socket closes when the last worker lets go of it. Idempotent.
  void close(Connection& connection);
  bool connected(const std::array<std::uint8_t, 16>& address);
  // With no worker running. When it returns, there are no connections any more.
  void close_all();
  // Closes a connection whose peer has finished, once all is answered.
  void close_if_finished(Connection& connection);
  void sweep();  // the time-outs
  // Closes the connection whose half-sent record has had memory for the longest time, while others wait for some.
  void close_oldest_half_sent();

  // The receive side of this connection waits until the record pool has room; the caller no longer holds it.
  void wait_for_memory(std::shared_ptr<Connection> connection);
  void wake_memory_waiters();

  // --- listening; server.cc
  // ------------------------------------------------------------------------------------------------
  Status listen();
  void keep_house();

  const ServerOptions options;
  const Service service;
  ServerMetrics metrics;
  RecordPool pool;
  DuplicateCache duplicates;
  std::optional<GssServer> gss;
  const int epoll;
  const int wake_fd;
  TaskQueue tasks;
  std::vector<Listener> listeners;

  std::atomic<bool> stopping{false};
  std::atomic<bool> draining{false};
  std::atomic<bool> looking_out{false};     // a worker polls for the next call of its client
  std::atomic<std::uint32_t> busy{0};       // workers that are not asleep
  std::atomic<std::uint32_t> in_flight{0};  // calls handed over
  std::atomic<std::uint64_t> output_bytes{0};

  // Keys of epoll events that are no connection.
  static constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};
  static constexpr std::uint64_t kListenerKey = kWakeKey - 1024;  // + index

 private:
  static constexpr unsigned kIndexBits = 20;
  struct Slot {
    std::mutex mutex;  // guards the two below
    std::shared_ptr<Connection> connection;
    std::uint64_t generation = 0;
  };
  void admit(int fd);
  // Closes a connection on which nothing is under way: of this address; null: of the one that has most. The one that
  // was heard of longest ago, and before others one over which no client is called. False: there is none.
  bool give_way(const AddressBudget* address);
  std::optional<std::uint32_t> take_slot();
  static std::shared_ptr<Connection> connection_in(Slot& slot);
  std::shared_ptr<AddressBudget> budget_of(const std::array<std::uint8_t, 16>& address);

  std::vector<Slot> slots_;
  std::atomic<std::uint32_t> alive_{0};  // connections that somebody holds
  std::mutex table_mutex_;               // guards the two below
  std::vector<std::uint32_t> free_slots_;
  std::map<std::array<std::uint8_t, 16>, std::weak_ptr<AddressBudget>> budgets_;

  std::mutex waiting_mutex_;  // guards the two below
  std::vector<std::shared_ptr<Connection>> waiting_;
  std::vector<std::size_t> paused_listeners_;  // no descriptors were left

 public:
  std::mutex house_mutex;  // guards nothing but the sleep of the housekeeper
  std::condition_variable house_wake;
  std::vector<std::thread> threads;
};

}  // namespace stoa::rpc

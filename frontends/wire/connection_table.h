// The connections of a server: found by the keys of their epoll events, admitted by limits, closed by time-outs.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "frontends/wire/address_budgets.h"
#include "frontends/wire/connection.h"
#include "frontends/wire/limits.h"
#include "frontends/wire/peer.h"
#include "frontends/wire/server_metrics.h"
#include "frontends/wire/waiting_requests.h"
#include "qos/scheduler.h"

namespace stoa::wire {

// Thread-safe.
template <class P>
class ConnectionTable {
 public:
  using Ref = std::shared_ptr<Connection<P>>;

  // All that is given here must outlive it.
  ConnectionTable(const ServerLimits& limits, const P& protocol, int epoll, RecordPool& pool, AllOutput& output,
                  ServerMetrics& metrics, WaitingRequests& waiting)
      : limits_(limits),
        protocol_(protocol),
        epoll_(epoll),
        pool_(pool),
        output_(output),
        metrics_(metrics),
        waiting_(waiting),
        slots_(std::min(limits.connections_max, 1u << kIndexBits)) {
    for (std::size_t i = slots_.size(); i > 0; --i) free_slots_.push_back(static_cast<std::uint32_t>(i - 1));
  }

  // Null: closed since the event was reported.
  Ref find(std::uint64_t key) {
    const std::uint64_t index = key & kIndexMask;
    if (index >= slots_.size()) return nullptr;
    Slot& slot = slots_[index];
    const std::lock_guard lock(slot.mutex);
    return slot.generation == key >> kIndexBits ? slot.connection : nullptr;
  }
  bool connected(const AddressBudgets::Address& address) const { return budgets_.connected(address); }

  // Takes a socket on, or closes it when a limit is reached.
  void admit(int fd);
  // Takes the connection out; the socket closes when the last worker releases it. Idempotent.
  void close(Connection<P>& connection);
  // Closes a connection whose peer has finished, once all requests are answered.
  void close_if_finished(Connection<P>& connection) {
    if (connection.end_of_input.load() && !connection.under_way()) close(connection);
  }
  void close_all() {
    for (Slot& slot : slots_) {
      if (const Ref connection = connection_in(slot)) close(*connection);
    }
  }
  // Returns when the last reference to any connection is gone.
  void wait_until_gone() const {
    // Threads of the protocol may be sending to a client: for a moment, because that never blocks.
    while (alive_.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // The time-outs.
  void sweep();
  // Closes the connection whose half-sent record has held memory for the longest time, while others wait for some.
  void close_oldest_half_sent();

 private:
  static constexpr unsigned kIndexBits = 20;
  static constexpr std::uint64_t kIndexMask = (1u << kIndexBits) - 1;
  // Room for a few of the largest replies, so that one leaves in one go instead of by turns with the reader (a third
  // more sequential read). A bound, not memory: the kernel takes only the queued bytes.
  static constexpr int kSendBufferBytes = 4 << 20;

  struct Slot {
    std::mutex mutex;  // guards the two below
    Ref connection;
    std::uint64_t generation = 0;
  };
  static Ref connection_in(Slot& slot) {
    const std::lock_guard lock(slot.mutex);
    return slot.connection;
  }
  static std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }
  // Closes an idle connection: of this address; null: of the one with the most. Prefers connections not worth
  // keeping, then the one idle for longest. False: there is none.
  bool give_way(const AddressBudget* address);
  std::optional<std::uint32_t> take_slot();
  void add(std::uint32_t index, int fd, Peer peer, std::shared_ptr<AddressBudget> budget);

  const ServerLimits& limits_;
  const P& protocol_;
  const int epoll_;
  RecordPool& pool_;
  AllOutput& output_;
  ServerMetrics& metrics_;
  WaitingRequests& waiting_;
  AddressBudgets budgets_;
  std::atomic<std::uint32_t> alive_{0};  // connections that are referred to
  std::vector<Slot> slots_;
  std::mutex free_mutex_;  // guards free_slots_
  std::vector<std::uint32_t> free_slots_;
};

template <class P>
std::optional<std::uint32_t> ConnectionTable<P>::take_slot() {
  const std::lock_guard lock(free_mutex_);
  if (free_slots_.empty()) return std::nullopt;
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  return index;
}

template <class P>
bool ConnectionTable<P>::give_way(const AddressBudget* address) {
  const std::int64_t now = now_ns();
  Ref idlest;
  std::tuple<std::uint32_t, bool, std::int64_t> best;  // greater gives way first
  for (Slot& slot : slots_) {
    const Ref c = connection_in(slot);
    if (!c || c->under_way() || (address != nullptr && c->budget.get() != address)) continue;
    // A client that is just sending something is busy; one that has begun to and does not go on is not.
    const std::int64_t partial = c->activity.partial_since_ns.load();
    if (partial != 0 && now - partial <= std::chrono::nanoseconds(limits_.half_sent_patience).count()) continue;
    const std::tuple rank(c->budget->connections.load(), !c->session.worth_keeping(),
                          -c->activity.last_input_ns.load());
    if (idlest != nullptr && rank <= best) continue;
    idlest = c;
    best = rank;
  }
  if (idlest == nullptr) return false;
  metrics_.closed_gave_way.add();
  close(*idlest);
  return true;
}

template <class P>
void ConnectionTable<P>::close_oldest_half_sent() {
  Ref oldest;
  std::int64_t since = now_ns() - std::chrono::nanoseconds(limits_.half_sent_patience).count();
  for (Slot& slot : slots_) {
    const Ref c = connection_in(slot);
    if (!c || !c->activity.holds_memory.load()) continue;
    const std::int64_t began = c->activity.partial_since_ns.load();
    if (began == 0 || began > since) continue;
    oldest = c;
    since = began;
  }
  if (oldest == nullptr) return;
  metrics_.closed_half_sent.add();
  close(*oldest);
}

template <class P>
void ConnectionTable<P>::admit(int fd) {
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&from), &length) != 0) {
    ::close(fd);  // Gone before we looked.
    return;
  }
  Peer peer = peer_of(from);
  auto budget = budgets_.of(peer.address);
  const auto refuse = [&](Counter& why) {
    budget->connections.fetch_sub(1);
    why.add();
    ::close(fd);
  };
  if (budget->connections.fetch_add(1) >= limits_.connections_per_address_max && !give_way(budget.get())) {
    return refuse(metrics_.refused_address_limit);
  }
  auto index = take_slot();
  if (!index && give_way(nullptr)) index = take_slot();
  if (!index) return refuse(metrics_.refused_total_limit);
  add(*index, fd, std::move(peer), std::move(budget));
}

template <class P>
void ConnectionTable<P>::add(std::uint32_t index, int fd, Peer peer, std::shared_ptr<AddressBudget> budget) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof kSendBufferBytes);

  Slot& slot = slots_[index];
  std::uint64_t key = 0;
  {
    const std::lock_guard lock(slot.mutex);
    key = ++slot.generation << kIndexBits | index;
    Receiver receiver(pool_, budget, {limits_.record_bytes_max, limits_.record_fragments_max}, protocol_.framer());
    auto made = std::make_unique<Connection<P>>(fd, epoll_, key, std::move(peer), std::move(budget),
                                                std::move(receiver), limits_.output_per_connection_max, output_,
                                                limits_.in_flight_per_connection_max);
    alive_.fetch_add(1);
    slot.connection = Ref(made.release(), [this](Connection<P>* connection) {
      delete connection;
      alive_.fetch_sub(1);
    });
    slot.connection->activity.last_input_ns.store(now_ns());
  }
  metrics_.accepted.add();
  metrics_.connections.add(1);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = key;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

template <class P>
void ConnectionTable<P>::close(Connection<P>& connection) {
  if (connection.closed.exchange(true)) return;
  connection.session.closed();
  if (qos::Scheduler* const scheduler = protocol_.scheduler()) scheduler->cancel(&connection);
  waiting_.cancel(&connection);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, connection.fd, nullptr);
  shutdown(connection.fd, SHUT_RDWR);
  connection.budget->connections.fetch_sub(1);
  metrics_.connections.add(-1);
  const auto index = static_cast<std::uint32_t>(connection.key & kIndexMask);
  Ref last;  // may be the last reference: destroyed behind the lock
  {
    const std::lock_guard lock(slots_[index].mutex);
    last = std::move(slots_[index].connection);
    slots_[index].connection = nullptr;
  }
  const std::lock_guard lock(free_mutex_);
  free_slots_.push_back(index);
}

template <class P>
void ConnectionTable<P>::sweep() {
  const std::int64_t now = now_ns();
  const auto older = [&](std::int64_t since, std::chrono::seconds limit) {
    return since != 0 && now - since > std::chrono::nanoseconds(limit).count();
  };
  for (Slot& slot : slots_) {
    const Ref c = connection_in(slot);
    if (!c) continue;
    if (older(c->activity.partial_since_ns.load(), limits_.record_timeout)) {
      metrics_.closed_record_timeout.add();
      close(*c);
    } else if (c->output.backlog() > 0) {
      if (older(c->output.last_taken_ns(), limits_.output_timeout)) {
        metrics_.closed_output_timeout.add();
        close(*c);
      }
    } else if (c->in_flight.count() == 0 && older(c->activity.last_input_ns.load(), limits_.idle_timeout)) {
      metrics_.closed_idle_timeout.add();
      close(*c);
    }
  }
}

}  // namespace stoa::wire

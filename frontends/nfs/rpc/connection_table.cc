// Accepting, finding and closing connections.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tuple>

#include "base/log.h"
#include "frontends/nfs/rpc/peer.h"
#include "frontends/nfs/rpc/server_state.h"

namespace stoa::rpc {
namespace {

// Room for a few of the largest replies, so that one leaves in one go instead of by turns with the reader (a third more
// sequential read). A bound, not memory: the kernel takes what is queued.
constexpr int kSendBufferBytes = 4 << 20;

}  // namespace

std::shared_ptr<Connection> ServerState::find(std::uint64_t key) {
  const std::uint64_t index = key & ((1u << kIndexBits) - 1);
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  const std::lock_guard lock(slot.mutex);
  return slot.generation == key >> kIndexBits ? slot.connection : nullptr;
}

std::shared_ptr<AddressBudget> ServerState::budget_of(const std::array<std::uint8_t, 16>& address) {
  const std::lock_guard lock(table_mutex_);
  std::weak_ptr<AddressBudget>& known = budgets_[address];
  if (auto budget = known.lock()) return budget;
  std::erase_if(budgets_, [&](const auto& entry) { return entry.second.expired() && entry.first != address; });
  auto budget = std::make_shared<AddressBudget>();
  budgets_[address] = budget;
  return budget;
}

bool ServerState::connected(const std::array<std::uint8_t, 16>& address) {
  const std::lock_guard lock(table_mutex_);
  const auto known = budgets_.find(address);
  const auto budget = known == budgets_.end() ? nullptr : known->second.lock();
  return budget != nullptr && budget->connections.load() > 0;
}

void ServerState::accept_from(std::size_t index) {
  constexpr int kAcceptsMax = 64;  // then others get a turn
  bool paused = false;
  for (int i = 0; i < kAcceptsMax && !draining.load(); ++i) {
    const int fd = accept4(listeners[index].fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      admit(fd);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    paused = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (paused) log_warning("nfs", "no descriptors left to accept a connection", {{"errno", errno}});
    break;
  }
  if (draining.load()) return;
  if (paused) {  // The housekeeper arms it again; to try at once would spin.
    {
      const std::lock_guard lock(waiting_mutex_);
      paused_listeners_.push_back(index);
    }
    house_wake.notify_one();
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = kListenerKey + index;
  epoll_ctl(epoll, EPOLL_CTL_MOD, listeners[index].fd, &event);
}

std::shared_ptr<Connection> ServerState::connection_in(Slot& slot) {
  const std::lock_guard lock(slot.mutex);
  return slot.connection;
}

std::optional<std::uint32_t> ServerState::take_slot() {
  const std::lock_guard lock(table_mutex_);
  if (free_slots_.empty()) return std::nullopt;
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  return index;
}

bool ServerState::give_way(const AddressBudget* address) {
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::shared_ptr<Connection> idlest;
  std::tuple<std::uint32_t, bool, std::int64_t> best;  // greater gives way first
  for (Slot& slot : slots_) {
    const auto c = connection_in(slot);
    if (!c || c->under_way() || (address != nullptr && &c->budget() != address)) continue;
    // Who is just sending something is busy; who has begun to and does not go on is not.
    const std::int64_t partial = c->partial_since_ns.load();
    if (partial != 0 && now - partial <= std::chrono::nanoseconds(options.limits.half_sent_patience).count()) continue;
    const std::tuple rank(c->budget().connections.load(), !c->back_channel.load(), -c->last_input_ns.load());
    if (idlest != nullptr && rank <= best) continue;
    idlest = c;
    best = rank;
  }
  if (idlest == nullptr) return false;
  metrics.closed_gave_way.add();
  close(*idlest);
  return true;
}

void ServerState::close_oldest_half_sent() {
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::shared_ptr<Connection> oldest;
  std::int64_t since = now - std::chrono::nanoseconds(options.limits.half_sent_patience).count();
  for (Slot& slot : slots_) {
    const auto c = connection_in(slot);
    if (!c || !c->holds_memory.load()) continue;
    const std::int64_t began = c->partial_since_ns.load();
    if (began == 0 || began > since) continue;
    oldest = c;
    since = began;
  }
  if (oldest == nullptr) return;
  metrics.closed_half_sent.add();
  close(*oldest);
}

void ServerState::admit(int fd) {
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&from), &length) != 0) {
    ::close(fd);  // Gone before we looked.
    return;
  }
  Peer peer = peer_of(from);
  auto budget = budget_of(peer.address);
  const auto refuse = [&](Counter& why) {
    budget->connections.fetch_sub(1);
    why.add();
    ::close(fd);
  };
  if (budget->connections.fetch_add(1) >= options.limits.connections_per_address_max && !give_way(budget.get())) {
    return refuse(metrics.refused_address_limit);
  }
  auto index = take_slot();
  if (!index && give_way(nullptr)) index = take_slot();
  if (!index) return refuse(metrics.refused_total_limit);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof kSendBufferBytes);

  Slot& slot = slots_[*index];
  std::uint64_t key = 0;
  {
    const std::lock_guard lock(slot.mutex);
    key = ++slot.generation << kIndexBits | *index;
    auto made = std::make_unique<Connection>(
        fd, epoll, key, std::move(peer), std::move(budget), pool,
        ReceiverLimits{options.limits.record_bytes_max, options.limits.record_fragments_max}, service.payload_offset,
        Connection::Limits{options.limits.output_per_connection_max, options.limits.output_max,
                           options.limits.in_flight_per_connection_max},
        output_bytes);
    alive_.fetch_add(1);
    slot.connection = std::shared_ptr<Connection>(made.release(), [this](Connection* connection) {
      delete connection;
      alive_.fetch_sub(1);
    });
    slot.connection->last_input_ns.store(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  metrics.accepted.add();
  metrics.connections.add(1);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = key;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

void ServerState::close(Connection& connection) {
  if (connection.closed.exchange(true)) return;
  connection.drop_callbacks();
  if (service.scheduler != nullptr) service.scheduler->cancel(&connection);
  epoll_ctl(epoll, EPOLL_CTL_DEL, connection.fd(), nullptr);
  shutdown(connection.fd(), SHUT_RDWR);
  connection.budget().connections.fetch_sub(1);
  metrics.connections.add(-1);
  const auto index = static_cast<std::uint32_t>(connection.epoll_key() & ((1u << kIndexBits) - 1));
  std::shared_ptr<Connection> last;  // may be the last reference: destroyed behind the lock
  {
    const std::lock_guard lock(slots_[index].mutex);
    last = std::move(slots_[index].connection);
    slots_[index].connection = nullptr;
  }
  const std::lock_guard lock(table_mutex_);
  free_slots_.push_back(index);
}

void ServerState::close_all() {
  for (Slot& slot : slots_) {
    const auto connection = connection_in(slot);
    if (connection) close(*connection);
  }
  {
    const std::lock_guard lock(waiting_mutex_);
    waiting_.clear();
  }
  // A call that was just granted may still become a task.
  if (service.scheduler != nullptr) service.scheduler->settle();
  tasks.clear();
  // Threads of programs may be calling a client back: for a moment, because that never blocks.
  while (alive_.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void ServerState::close_if_finished(Connection& connection) {
  if (!connection.end_of_input.load()) return;
  if (connection.in_flight.load() == 0 && connection.backlog() == 0 && !connection.has_parked()) close(connection);
}

void ServerState::sweep() {
  const ServerLimits& limits = options.limits;
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  const auto older = [&](std::int64_t since, std::chrono::seconds limit) {
    return since != 0 && now - since > std::chrono::nanoseconds(limit).count();
  };
  for (Slot& slot : slots_) {
    const auto c = connection_in(slot);
    if (!c) continue;
    if (older(c->partial_since_ns.load(), limits.record_timeout)) {
      metrics.closed_record_timeout.add();
      close(*c);
    } else if (c->backlog() > 0) {
      if (older(c->last_output_ns.load(), limits.output_timeout)) {
        metrics.closed_output_timeout.add();
        close(*c);
      }
    } else if (c->in_flight.load() == 0 && older(c->last_input_ns.load(), limits.idle_timeout)) {
      metrics.closed_idle_timeout.add();
      close(*c);
    }
  }
  metrics.in_flight.set(in_flight.load());
  metrics.output_bytes.set(static_cast<std::int64_t>(output_bytes.load()));
  metrics.record_bytes.set(static_cast<std::int64_t>(pool.bytes_in_use()));
  metrics.half_sent_bytes.set(static_cast<std::int64_t>(pool.bytes_half_sent()));
}

void ServerState::wait_for_memory(std::shared_ptr<Connection> connection) {
  metrics.record_memory_waits.add();
  {
    const std::lock_guard lock(waiting_mutex_);
    waiting_.push_back(std::move(connection));
  }
  house_wake.notify_one();
}

void ServerState::wake_memory_waiters() {
  std::vector<std::shared_ptr<Connection>> waiters;
  std::vector<std::size_t> paused;
  {
    const std::lock_guard lock(waiting_mutex_);
    waiters.swap(waiting_);
    paused.swap(paused_listeners_);
  }
  if (!waiters.empty()) close_oldest_half_sent();
  for (auto& connection : waiters) {
    if (!connection->closed.load()) tasks.push(Task{std::move(connection), true, {}});
  }
  for (const std::size_t index : paused) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u64 = kListenerKey + index;
    epoll_ctl(epoll, EPOLL_CTL_MOD, listeners[index].fd, &event);
  }
}

}  // namespace stoa::rpc

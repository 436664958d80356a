#include "frontends/http/connections.h"

#include <sys/socket.h>

#include <utility>

namespace stoa::http {

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool Connection::begin_work() {
  Turn expected = Turn::kClient;
  return turn.compare_exchange_strong(expected, Turn::kServer) || expected == Turn::kServer;
}

void Connection::end_work(std::chrono::nanoseconds patience) {
  idle_since_ns.store(clock() + patience.count(), std::memory_order_relaxed);
  Turn expected = Turn::kServer;
  (void)turn.compare_exchange_strong(expected, Turn::kClient);
}

Connections::Connections(const ConnectionLimits& limits, const ConnectionCounters& counters, NanosecondClock clock)
    : limits_(limits), counters_(counters), clock_(clock) {
  if (clock == steady_now_ns) watchdog_ = std::thread([this] { watch(); });
}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (watchdog_.joinable()) watchdog_.join();
}

bool Connections::make_room(const ClientAddress& client) {
  const std::lock_guard lock(mutex_);
  const auto share = by_address_.find(client.bytes);
  if (share != by_address_.end() && share->second >= limits_.connections_per_address_max &&
      !cut_an_idle_one(&client.bytes))
    return false;
  return staying_ < limits_.connections_max || cut_an_idle_one(nullptr);
}

bool Connections::cut_an_idle_one(const Address* of) {
  Connection* chosen = nullptr;
  std::uint32_t most = 0;
  for (const auto& [key, connection] : open_) {
    if (connection->turn.load(std::memory_order_relaxed) != Connection::Turn::kClient) continue;
    if (of != nullptr && connection->client.bytes != *of) continue;
    const std::uint32_t has = by_address_.find(connection->client.bytes)->second;
    const auto since = [](const Connection& one) { return one.idle_since_ns.load(std::memory_order_relaxed); };
    if (chosen != nullptr && (has < most || (has == most && since(*connection) >= since(*chosen)))) continue;
    chosen = connection.get();
    most = has;
  }
  if (chosen == nullptr) return false;
  Connection::Turn expected = Connection::Turn::kClient;
  // It has just got a request: the next of its kind is not worth a second look.
  if (!chosen->turn.compare_exchange_strong(expected, Connection::Turn::kGone)) return false;
  cut(*chosen, counters_.gave_way);
  return true;
}

void Connections::leave(const Connection& connection) {
  --staying_;
  const auto share = by_address_.find(connection.client.bytes);
  if (--share->second == 0) by_address_.erase(share);
}

// The connection's thread sees the end of the stream, and closes.
void Connections::cut(Connection& connection, Counter& counter) {
  leave(connection);
  connection.allow_for_ever();
  ::shutdown(connection.fd, SHUT_RDWR);
  counter.add();
}

Connection* Connections::add(int fd, ClientAddress client) {
  auto made = std::make_unique<Connection>();
  Connection* const connection = made.get();
  connection->fd = fd;
  connection->client = std::move(client);
  connection->clock = clock_;
  connection->idle_since_ns.store(clock_(), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  open_.emplace(connection, std::move(made));
  ++staying_;
  ++by_address_[connection->client.bytes];
  return connection;
}

void Connections::remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  if (connection->turn.load(std::memory_order_relaxed) != Connection::Turn::kGone) leave(*connection);
  open_.erase(connection);
}

void Connections::expire() {
  const std::int64_t now = clock_();
  const std::lock_guard lock(mutex_);
  for (const auto& [key, connection] : open_) {
    if (connection->deadline_ns.load(std::memory_order_relaxed) > now) continue;
    if (connection->turn.exchange(Connection::Turn::kGone) != Connection::Turn::kGone) cut(*connection, counters_.late);
  }
}

std::size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

void Connections::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stop_; })) {
    lock.unlock();
    expire();
    lock.lock();
  }
}

}  // namespace stoa::http

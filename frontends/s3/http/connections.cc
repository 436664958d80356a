#include "frontends/s3/http/connections.h"

#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "frontends/http/client_address.h"

namespace stoa::s3 {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Connection::allow(std::uint64_t seconds) {
  deadline_ns.store(steady_now_ns() + static_cast<std::int64_t>(seconds) * kSecond, std::memory_order_relaxed);
}

bool Connection::begin_work() {
  Use idle = Use::kIdle;
  return use.compare_exchange_strong(idle, Use::kBusy);
}

void Connection::end_work() {
  idle_since_ns.store(steady_now_ns(), std::memory_order_relaxed);
  Use busy = Use::kBusy;
  (void)use.compare_exchange_strong(busy, Use::kIdle);
}

Connections::Connections(const Limits& limits, ServerMetrics& metrics)
    : limits_(limits), metrics_(metrics), watchdog_([this] { watch(); }) {}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  watchdog_.join();
}

bool Connections::make_room(const sockaddr* address) {
  const Address from = http::client_address(address).bytes;
  const std::lock_guard lock(mutex_);
  const auto share = by_address_.find(from);
  bool room = true;
  if (share != by_address_.end() && share->second >= limits_.connections_per_address_max)
    room = close_an_idle_one(&from);
  if (room && staying_ >= limits_.connections_max) room = close_an_idle_one(nullptr);
  if (!room) metrics_.refused().add();
  return room;
}

bool Connections::close_an_idle_one(const Address* of) {
  Connection* chosen = nullptr;
  std::uint32_t most = 0;
  for (Connection* connection : open_) {
    if (connection->use.load(std::memory_order_relaxed) != Connection::Use::kIdle) continue;
    if (of != nullptr && connection->address != *of) continue;
    const std::uint32_t has = by_address_.find(connection->address)->second;
    const auto since = [](const Connection* one) { return one->idle_since_ns.load(std::memory_order_relaxed); };
    if (chosen != nullptr && (has < most || (has == most && since(connection) >= since(chosen)))) continue;
    chosen = connection;
    most = has;
  }
  if (chosen == nullptr) return false;
  Connection::Use idle = Connection::Use::kIdle;
  // It has just got a request: the next of its kind is not worth a second look.
  if (!chosen->use.compare_exchange_strong(idle, Connection::Use::kGone)) return false;
  leave(*chosen);
  ::shutdown(chosen->fd, SHUT_RDWR);
  metrics_.gave_way().add();
  return true;
}

void Connections::leave(const Connection& connection) {
  --staying_;
  const auto share = by_address_.find(connection.address);
  if (--share->second == 0) by_address_.erase(share);
}

Connection* Connections::add(int fd, const sockaddr* address) {
  auto* connection = new Connection{};
  connection->fd = fd;
  http::ClientAddress client = http::client_address(address);
  connection->address = client.bytes;
  connection->client = std::move(client.text);
  connection->idle_since_ns.store(steady_now_ns(), std::memory_order_relaxed);
  connection->allow(limits_.idle_timeout_s);
  metrics_.connections().add(1);
  const std::lock_guard lock(mutex_);
  open_.insert(connection);
  ++staying_;
  ++by_address_[connection->address];
  return connection;
}

void Connections::remove(Connection* connection) {
  {
    const std::lock_guard lock(mutex_);
    open_.erase(connection);
    if (connection->use.load(std::memory_order_relaxed) != Connection::Use::kGone) leave(*connection);
  }
  metrics_.connections().add(-1);
  delete connection;
}

void Connections::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, std::chrono::seconds(1));
    const std::int64_t now = steady_now_ns();
    for (Connection* connection : open_) {
      if (connection->deadline_ns.load(std::memory_order_relaxed) > now) continue;
      // The connection's thread sees the end of the stream and closes; the descriptor stays valid while we hold the
      // lock.
      ::shutdown(connection->fd, SHUT_RDWR);
      connection->deadline_ns.store(INT64_MAX, std::memory_order_relaxed);
      metrics_.timeouts().add();
    }
  }
}

}  // namespace stoa::s3

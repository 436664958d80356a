#include "frontends/s3/http/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>

namespace stoa::s3 {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

void read_address(const sockaddr* address, Connection& connection) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address != nullptr && address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    connection.address[10] = connection.address[11] = 0xff;
    std::memcpy(connection.address.data() + 12, &v4->sin_addr, 4);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  } else if (address != nullptr && address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    std::memcpy(connection.address.data(), &v6->sin6_addr, 16);
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
      ::inet_ntop(AF_INET, connection.address.data() + 12, text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    }
  }
  connection.client = text;
}

}  // namespace

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Connection::allow(std::uint64_t seconds) {
  deadline_ns.store(steady_now_ns() + static_cast<std::int64_t>(seconds) * kSecond, std::memory_order_relaxed);
}

Connections::Connections(const Limits& limits, Counter& timeouts, Gauge& open)
    : limits_(limits), timeouts_(timeouts), gauge_(open), watchdog_([this] { watch(); }) {}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  watchdog_.join();
}

Connection* Connections::add(int fd, const sockaddr* address) {
  auto* connection = new Connection{};
  connection->fd = fd;
  read_address(address, *connection);
  connection->allow(limits_.idle_timeout_s);
  gauge_.add(1);
  const std::lock_guard lock(mutex_);
  open_.insert(connection);
  return connection;
}

void Connections::remove(Connection* connection) {
  {
    const std::lock_guard lock(mutex_);
    open_.erase(connection);
  }
  gauge_.add(-1);
  delete connection;
}

std::size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

void Connections::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, std::chrono::seconds(1));
    const std::int64_t now = steady_now_ns();
    for (Connection* connection : open_) {
      if (connection->deadline_ns.load(std::memory_order_relaxed) > now) continue;
      // The connection's thread sees the end of the stream and closes; the descriptor stays valid while we hold the lock.
      ::shutdown(connection->fd, SHUT_RDWR);
      connection->deadline_ns.store(INT64_MAX, std::memory_order_relaxed);
      timeouts_.add();
    }
  }
}

}  // namespace stoa::s3

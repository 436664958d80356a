#include "frontends/admin/connections.h"

#include <sys/socket.h>

#include <algorithm>

namespace stoa::admin {
namespace {

using Phase = Connections::Phase;
using std::chrono::seconds;

constexpr bool is_ours(Phase phase) {
  return phase == Phase::kAtWork || phase == Phase::kStreaming;
}

// For how long nobody is held to be slow. Who has just come is about to send, and who reads an answer over a slow line
// is not idle.
constexpr seconds patience_of(Phase phase) {
  switch (phase) {
    case Phase::kIdle:
      return seconds(0);
    case Phase::kAnswer:
      return seconds(10);
    default:
      return seconds(2);
  }
}

Counter& ended(MetricRegistry& metrics, const char* why) {
  return metrics.counter("stoa_admin_connections_cut_total", "Connections of the admin port that the server ended.",
                         {{"why", why}});
}

}  // namespace

Connections::Connections(const ConnectionLimits& limits, MetricRegistry& metrics)
    : limits_(limits), late_(ended(metrics, "late")), gave_way_(ended(metrics, "gave_way")) {}

seconds Connections::deadline_of(Phase phase) const {
  switch (phase) {
    case Phase::kFresh:
    case Phase::kIdle:
      return limits_.idle;
    case Phase::kHeaders:
      return limits_.headers;
    case Phase::kBody:
      return limits_.body;
    case Phase::kAnswer:
      return limits_.answer;
    case Phase::kAtWork:
    case Phase::kStreaming:
      break;
  }
  return seconds::max();
}

Connections::Connection* Connections::add(int fd, std::string address, Time now) {
  auto connection = std::make_unique<Connection>(Connection{.fd = fd, .address = std::move(address), .since = now});
  Connection* const added = connection.get();
  const std::lock_guard lock(mutex_);
  make_room(now);
  open_.emplace(added, std::move(connection));
  return added;
}

void Connections::enter(Connection* connection, Phase phase, Time now) {
  const std::lock_guard lock(mutex_);
  connection->phase = phase;
  connection->since = now;
}

void Connections::remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
}

void Connections::expire(Time now) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, connection] : open_) {
    if (!is_ours(connection->phase) && now - connection->since >= deadline_of(connection->phase))
      cut(*connection, late_);
  }
}

std::size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

// The thread of the connection sees the end of the stream, and closes.
void Connections::cut(Connection& connection, Counter& counter) {
  if (connection.cut) return;
  connection.cut = true;
  ::shutdown(connection.fd, SHUT_RDWR);
  counter.add();
}

void Connections::make_room(Time now) {
  std::unordered_map<std::string_view, std::size_t> of_address;
  std::size_t here = 0;
  for (const auto& [key, connection] : open_) {
    if (connection->cut) continue;
    ++here;
    ++of_address[connection->address];
  }
  if (here < limits_.connections_max) return;
  const auto rank = [&](const Connection& one) {
    return std::pair(of_address[one.address], now - one.since - patience_of(one.phase));
  };
  Connection* last = nullptr;
  for (const auto& [key, connection] : open_) {
    if (connection->cut || is_ours(connection->phase)) continue;
    if (last == nullptr || rank(*connection) > rank(*last)) last = connection.get();
  }
  if (last != nullptr) cut(*last, gave_way_);
}

}  // namespace stoa::admin

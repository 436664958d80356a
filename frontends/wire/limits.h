// The limits of a server. Reaching any of these hurts the connection or the address that reached it, no other; each has
// a metric.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/wire/listener.h"
#include "frontends/wire/record_pool.h"

namespace stoa::wire {

struct ServerLimits {
  // A new connection replaces an idle one; it is refused when there is none.
  std::uint32_t connections_max = 1024;
  std::uint32_t connections_per_address_max = 256;
  std::size_t record_bytes_max = RecordPool::kRecordBytesMax;  // a longer record closes the connection
  std::size_t record_fragments_max = 1024;                     // more close the connection
  std::uint64_t record_memory_max = std::uint64_t{256} << 20;  // of large records; beyond it reading waits
  std::uint64_t record_memory_per_address_max = std::uint64_t{128} << 20;
  // Of incomplete ones; beyond it no further one is begun, and the oldest of them give way.
  std::uint64_t half_sent_memory_max = std::uint64_t{64} << 20;
  std::uint64_t half_sent_memory_per_address_max = std::uint64_t{32} << 20;
  std::uint32_t in_flight_per_connection_max = 64;  // requests handed to followers; beyond it reading waits
  std::uint32_t in_flight_max = 2048;               // of all connections; beyond it each has one
  // Requests that wait for the recall of a lease, and their memory; beyond it a request is answered at once. Those of
  // one connection are fewer than what it may have in flight, so that it is read on: it may bring the answer to a
  // recall.
  std::uint32_t waiting_max = 1024;
  std::uint32_t waiting_per_connection_max = 32;
  std::uint64_t waiting_bytes_max = std::uint64_t{64} << 20;
  std::uint64_t waiting_bytes_per_connection_max = std::uint64_t{8} << 20;
  std::chrono::milliseconds recall_patience{10'000};  // so long such a request waits, all its recalls together
  std::uint64_t output_per_connection_max = std::uint64_t{8} << 20;  // unsent replies; beyond it reading waits
  std::uint64_t output_max = std::uint64_t{128} << 20;
  std::chrono::seconds record_timeout{60};     // from the first to the last byte of a record
  std::chrono::seconds half_sent_patience{5};  // the same, while others wait for the memory or the connection
  std::chrono::seconds output_timeout{60};     // the peer takes none of its replies
  std::chrono::seconds idle_timeout{3600};     // no request at all
};

struct ServerOptions {
  std::string name;  // in metrics (stoa_NAME_...), the log and names of threads
  std::vector<Endpoint> listen{Endpoint{}};
  std::uint32_t workers = 0;  // 0: enough to keep many syncs in flight
  ServerLimits limits{};
};

}  // namespace stoa::wire

// The gate that holds a request back until the QoS classes on its path admit it. Its connection has a thread of its own
// in any case: that thread waits, and the client's bytes wait in the socket meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/context.h"
#include "core/api/qos_table.h"
#include "core/api/registry.h"
#include "frontends/s3/error.h"
#include "qos/scheduler.h"

namespace stoa::http {
struct Connection;
}

namespace stoa::s3 {

struct Call;
struct Services;

// Called once, when the server stops: waiting requests are refused, and later ones do not wait.
void close_gates(Services& services);

// For one request, used by its thread alone. The QoS classes are always the present ones: a change by an administrator
// applies to the next piece.
class QosGate {
 public:
  // `connection` null: no connection whose deadlines must be watched.
  QosGate(Services& services, http::Connection* connection) : services_(services), connection_(connection) {}
  ~QosGate();
  QosGate(const QosGate&) = delete;

  // Finds the QoS classes that the request pays; the call's user and bucket are known.
  void enter(const Call& call);
  // Whether some QoS class has a limit for that.
  bool holds_back(qos::Resource resource) const;

  // Blocks until the price is paid. kSlowDown: the queue is full, or there are too many that wait like this one,
  // nothing was free for kPatience, or the server stops.
  Outcome<void> begin(const qos::Price& price);
  // The same for the next bytes of a body in transfer, in either direction: returns how many of them may pass (not
  // none). Large pieces are cut, so that many transfers share a low limit in turns. When nothing was free for
  // kPatience, a little passes, so that the client does not give up. kSlowDown: the queue is full, or the server stops.
  Outcome<std::uint64_t> go_on(qos::Resource resource, std::uint64_t bytes);

 private:
  enum class Passed : std::uint8_t { kInTime, kLate };

  void find_path();
  std::uint64_t piece_of(qos::Resource resource, std::uint64_t bytes) const;
  // `late`: the price paid when nothing was free for kPatience; absent: kSlowDown then.
  Outcome<Passed> wait(const qos::Price& price, const std::optional<qos::Price>& late);
  void count_as_slow(qos::Kind kind);

  Services& services_;
  http::Connection* connection_;
  std::shared_ptr<const core::RegistrySnapshot> registry_;  // keeps the QoS classes of path_; null: before enter()
  core::OpContext ctx_{};
  core::QosCaller caller_{};
  core::FileId root_ = core::kNoFile;  // of the bucket; kNoFile: there is none
  std::string key_{};
  std::vector<core::FileId> directories_{};
  std::vector<qos::QosClass*> path_{};

  // Its place among the slow requests.
  std::vector<std::shared_ptr<qos::QosClass>> slow_qos_classes_{};
  std::vector<qos::QosClass*> slow_path_{};
  qos::Kind slow_kind_{};
};

}  // namespace stoa::s3

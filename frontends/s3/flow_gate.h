// Holds a request back until the flows on its path admit it. Its connection has a thread of its own in any case: that thread
// waits, and while it does, the client's bytes wait in the socket.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "frontends/s3/error.h"
#include "qos/scheduler.h"

namespace stoa::s3 {

struct Call;
struct Connection;
struct Services;

// Once, when the server stops: whoever waits is refused, and nobody waits any more.
void close_gates(Services& services);

// Of one request, used by its thread alone. The flows are those of the moment when the request began.
class FlowGate {
 public:
  // `connection` null: nobody watches over its deadlines.
  FlowGate(Services& services, Connection* connection) : services_(services), connection_(connection) {}

  // Finds the flows that the request pays; the call's user and bucket are known.
  void enter(const Call& call);
  bool governed() const { return !path_.empty(); }

  // Blocks until the price is paid. kSlowDown: the queue is full, nothing was free for kPatience, or the server stops.
  Outcome<void> begin(const qos::Price& price);
  // The same for the next bytes of a body that is under way, in either direction. When nothing was free for kPatience, they
  // pass, and what comes later waits the longer for it: a client must not give the transfer up. kSlowDown: the queue is full, or the server stops.
  Outcome<void> go_on(const qos::Price& price);

 private:
  Outcome<void> wait(const qos::Price& price, bool pass_at_last);

  Services& services_;
  Connection* connection_;
  std::vector<std::shared_ptr<qos::Flow>> flows_;
  std::vector<qos::Flow*> path_;
};

}  // namespace stoa::s3

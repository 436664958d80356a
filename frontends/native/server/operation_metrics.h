// What the native server counts.
#pragma once

#include <map>
#include <string>

#include "base/metrics.h"
#include "frontends/native/protocol/layouts.h"

namespace stoa::native {

// Thread-safe after construction.
class OperationMetrics {
 public:
  explicit OperationMetrics(MetricRegistry& registry)
      : messages(registry.counter("stoa_native_messages_total", "Messages of native clients that were answered.")),
        replays(registry.counter("stoa_native_replays_total", "Messages sent again and answered from their slot.")),
        refused(registry.counter("stoa_native_messages_refused_total", "Messages refused as a whole.")),
        logins(registry.counter("stoa_native_logins_total", "Log-ins that succeeded.")),
        logins_failed(registry.counter("stoa_native_logins_failed_total", "Log-ins with a wrong key.")),
        logins_slowed(registry.counter("stoa_native_logins_slowed_total", "Log-ins told to wait after failures.")),
        latency(registry.histogram("stoa_native_message_seconds", "Time of a message, without waits for durability.")) {
#define STOA_NATIVE_OPERATION(code, name, kind, arguments, reply)                                             \
  operations_[code] =                                                                                         \
      &registry.counter("stoa_native_operations_total", "Operations by name.", {{"operation", #name}});       \
  errors_[code] = &registry.counter("stoa_native_operation_errors_total", "Operations that failed, by name.", \
                                    {{"operation", #name}});
#include "frontends/native/protocol/operations.def"
  }

  void ran(U16 code, bool failed) {
    if (const auto found = operations_.find(code); found != operations_.end()) found->second->add();
    if (const auto found = errors_.find(code); failed && found != errors_.end()) found->second->add();
  }

  Counter& messages;
  Counter& replays;
  Counter& refused;
  Counter& logins;
  Counter& logins_failed;
  Counter& logins_slowed;
  Histogram& latency;

 private:
  std::map<U16, Counter*> operations_, errors_;
};

}  // namespace stoa::native

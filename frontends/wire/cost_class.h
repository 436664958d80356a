// The cost of requests: the class decides which thread runs one and which requests wait for it, the charge is paid
// by its QoS classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qos/qos_class.h"

namespace stoa::wire {

enum class CostClass : std::uint8_t {
  kMemory,  // answered from memory
  kChange,  // changes metadata: its reply waits for one sync, shared by all that came together
  kSync,    // makes file data durable: in place while that is quick, else by another worker
  kData,    // moves little data: in place while that is quick, else by another worker
  kHeavy,   // moves much data: by another worker when it did not come alone
};
inline constexpr std::size_t kCostClasses = 5;

// The price and QoS classes of a request before it is run. The QoS classes are valid until Handler::refresh().
struct Charge {
  std::vector<qos::QosClass*> path{};  // empty: nothing
  qos::Price price{};
};

}  // namespace stoa::wire

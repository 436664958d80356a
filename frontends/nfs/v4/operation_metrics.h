// Counters of runs and failures for each operation of COMPOUND. Times and bytes are counted for whole
// COMPOUNDs, by the RPC layer.
#pragma once

#include <array>
#include <cstdint>

#include "base/metrics.h"

namespace stoa::nfs4 {

class OperationMetrics {
 public:
  explicit OperationMetrics(MetricRegistry& metrics);
  // The operation exists (operation_table.h).
  void count(std::uint32_t number, bool failed) {
    const Pair& pair = pairs_[number];
    pair.done->add();
    if (failed) pair.failed->add();
  }

 private:
  static constexpr std::size_t kNumbers = 76;
  struct Pair {
    Counter* done = nullptr;
    Counter* failed = nullptr;
  };
  std::array<Pair, kNumbers> pairs_{};
};

}  // namespace stoa::nfs4

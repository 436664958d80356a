#include "frontends/nfs/v4/operation_metrics.h"

#include "frontends/nfs/v4/operation_table.h"

namespace stoa::nfs4 {

OperationMetrics::OperationMetrics(MetricRegistry& metrics) {
  constexpr std::uint32_t kNewest = 2;
  for (std::uint32_t number = 0; number < kNumbers; ++number) {
    const OperationEntry* entry = find_operation(number, kNewest);
    if (entry == nullptr) continue;
    const std::string name(entry->name);
    pairs_[number] = {&metrics.counter("stoa_nfs4_operations_total", "Operations of COMPOUNDs", {{"operation", name}}),
                      &metrics.counter("stoa_nfs4_operation_errors_total", "Operations of COMPOUNDs that failed",
                                       {{"operation", name}})};
  }
}

}  // namespace stoa::nfs4

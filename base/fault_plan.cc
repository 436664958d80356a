#include "base/fault_plan.h"

#include "base/assert.h"

namespace stoa {

void FaultPlan::arm(std::uint64_t point, Fault fault, Errc code) {
  STOA_ASSERT(point > 0);
  const std::lock_guard lock(mutex_);
  left_ = point;
  crashed_ = false;
  fault_ = fault;
  code_ = code;
  fired_.clear();
}

void FaultPlan::disarm() {
  const std::lock_guard lock(mutex_);
  left_ = 0;
  crashed_ = false;
}

std::string FaultPlan::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

Status FaultPlan::reach(std::string_view point) {
  const std::lock_guard lock(mutex_);
  const bool fires = left_ > 0 && --left_ == 0;
  if (!fires && !crashed_) return {};
  if (fires) {
    fired_ = point;
    crashed_ = fault_ == Fault::kCrash;
  }
  return fail(code_, "a test's fault at " + std::string(point));
}

}  // namespace stoa

// A test's plan of points where the program is to fail. Code that can fail asks it at named points; outside of tests
// there is none.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa {

class FaultPlan {
 public:
  enum class Fault : std::uint8_t {
    kError,  // the point fails once
    kCrash,  // it fails, and every point after it, as if the machine had died there
  };

  // The point that is reached as number `point` from now on, counted from 1.
  void arm(std::uint64_t point, Fault fault, Errc code = Errc::kIo);
  // No point fails any more. fired() keeps its answer until the next arm().
  void disarm();
  // The name of the point that failed first; empty: none was reached.
  std::string fired() const;

  // Called by the code at each point, from any thread.
  Status reach(std::string_view point);

 private:
  mutable std::mutex mutex_;  // guards everything below
  std::uint64_t left_ = 0;    // points until the one that fails; 0: none
  bool crashed_ = false;
  Fault fault_ = Fault::kError;
  Errc code_ = Errc::kIo;
  std::string fired_;
};

inline Status fault_point(FaultPlan* plan, std::string_view point) {
  return plan == nullptr ? Status{} : plan->reach(point);
}

}  // namespace stoa

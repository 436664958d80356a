// The source of time: the system clock, or a test's. Thread-safe; nothing blocks.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace stoa {

class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual Timestamp wall() const = 0;
  virtual std::chrono::steady_clock::time_point steady() const = 0;
};

class SystemTime final : public TimeSource {
 public:
  Timestamp wall() const override { return wall_now(); }
  std::chrono::steady_clock::time_point steady() const override { return std::chrono::steady_clock::now(); }
};
inline const SystemTime kSystemTime{};

// The duration of an operation, for metrics.
class Stopwatch {
 public:
  std::uint64_t ns() const {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count());
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace stoa

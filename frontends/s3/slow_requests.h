// The requests that QoS classes made wait, from then on to their end: each holds a thread, and an upload a staging
// buffer, for as long as its QoS classes delay it. Requests with the same path may hold at most as many places as they
// leave free, so one user's slow requests cannot exhaust them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "qos/qos_class.h"

namespace stoa::s3 {

// Thread-safe, does not block. Kinds of requests are apart.
class SlowRequests {
 public:
  explicit SlowRequests(std::uint32_t most) : most_(most) {}

  // Whether one more may come that pays these QoS classes (not none).
  bool has_room(std::span<qos::QosClass* const> path, qos::Kind kind) const {
    const std::lock_guard lock(mutex_);
    const Count& count = counts_[static_cast<std::size_t>(kind)];
    const auto at = [&count](const qos::QosClass* qos_class, bool ends) {
      const auto found = count.by_qos_class.find({qos_class, ends});
      return found != count.by_qos_class.end() ? std::int64_t{found->second} : 0;
    };
    std::int64_t room = std::int64_t{most_} - count.all;
    for (const qos::QosClass* qos_class : path) room -= at(qos_class, false);
    return room > at(path.back(), true);
  }
  // The QoS classes must live until the same path is removed.
  void add(std::span<qos::QosClass* const> path, qos::Kind kind) { change(path, kind, true); }
  void remove(std::span<qos::QosClass* const> path, qos::Kind kind) { change(path, kind, false); }

 private:
  struct Count {
    std::uint32_t all = 0;
    std::map<std::pair<const qos::QosClass*, bool>, std::uint32_t>
        by_qos_class{};  // below it; with true: requests whose path ends there
  };

  void change(std::span<qos::QosClass* const> path, qos::Kind kind, bool comes) {
    const std::lock_guard lock(mutex_);
    Count& count = counts_[static_cast<std::size_t>(kind)];
    const auto one = [&](const qos::QosClass* qos_class, bool ends) {
      const auto it = count.by_qos_class.try_emplace({qos_class, ends}).first;
      it->second += comes ? 1 : -1;
      if (it->second == 0) count.by_qos_class.erase(it);
    };
    count.all += comes ? 1 : -1;
    for (const qos::QosClass* qos_class : path) one(qos_class, false);
    one(path.back(), true);
  }

  const std::uint32_t most_;
  mutable std::mutex mutex_;
  std::array<Count, qos::kKinds> counts_{};
};

}  // namespace stoa::s3

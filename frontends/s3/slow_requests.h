// The requests that flows made wait, from then on to their end: each holds a thread, and an upload a staging buffer,
// for as long as its flows please. Whoever waits in the same place, in all or below one flow, holds no more than he
// leaves to others, so that one whose requests are slow keeps nobody out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "qos/flow.h"

namespace stoa::s3 {

// Thread-safe, does not block. Kinds of requests are apart.
class SlowRequests {
 public:
  explicit SlowRequests(std::uint32_t most) : most_(most) {}

  // Whether one more may come that pays these flows (not none).
  bool has_room(std::span<qos::Flow* const> path, qos::Kind kind) const {
    const std::lock_guard lock(mutex_);
    const Count& count = counts_[static_cast<std::size_t>(kind)];
    const auto at = [&count](const qos::Flow* flow, bool ends) {
      const auto found = count.by_flow.find({flow, ends});
      return found != count.by_flow.end() ? std::int64_t{found->second} : 0;
    };
    std::int64_t room = std::int64_t{most_} - count.all;
    for (const qos::Flow* flow : path) room -= at(flow, false);
    return room > at(path.back(), true);
  }
  // The flows must live until the same path is removed.
  void add(std::span<qos::Flow* const> path, qos::Kind kind) { change(path, kind, true); }
  void remove(std::span<qos::Flow* const> path, qos::Kind kind) { change(path, kind, false); }

 private:
  struct Count {
    std::uint32_t all = 0;
    std::map<std::pair<const qos::Flow*, bool>, std::uint32_t>
        by_flow{};  // below it; with true: those whose path ends there
  };

  void change(std::span<qos::Flow* const> path, qos::Kind kind, bool comes) {
    const std::lock_guard lock(mutex_);
    Count& count = counts_[static_cast<std::size_t>(kind)];
    const auto one = [&](const qos::Flow* flow, bool ends) {
      const auto it = count.by_flow.try_emplace({flow, ends}).first;
      it->second += comes ? 1 : -1;
      if (it->second == 0) count.by_flow.erase(it);
    };
    count.all += comes ? 1 : -1;
    for (const qos::Flow* flow : path) one(flow, false);
    one(path.back(), true);
  }

  const std::uint32_t most_;
  mutable std::mutex mutex_;
  std::array<Count, qos::kKinds> counts_{};
};

}  // namespace stoa::s3

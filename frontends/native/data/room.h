// Whether a directory has room for bytes that are buffered: near a limit they are written through, so that the error is
// that of the write.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "core/api/ids.h"

namespace stoa::native::data {

// Thread-safe. By the file of a lease.
class Room {
 public:
  static constexpr std::uint64_t kEnough = 64 * 1024 * 1024;
  enum class Verdict : std::uint8_t { kBuffer, kAsk, kThrough };

  // kAsk: it is not known (any more) how much room there is: tell it by known().
  Verdict take(core::FileId at, std::uint64_t bytes) {
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(at);
    if (found == places_.end()) return Verdict::kAsk;
    Place& place = found->second;
    if (now < place.refused_until) return Verdict::kThrough;
    const bool enough = place.available >= kEnough + bytes;
    if (now - place.asked > (enough ? kBelieved : kAsksAgain)) return Verdict::kAsk;
    if (!enough) return Verdict::kThrough;
    place.available -= bytes;
    return Verdict::kBuffer;
  }
  void known(core::FileId at, std::uint64_t available) {
    const std::lock_guard lock(mutex_);
    if (places_.size() >= kPlacesMost) places_.clear();
    Place& place = places_[at];
    place.available = available;
    place.asked = Clock::now();
  }
  // The server has refused bytes for want of room.
  void refused(core::FileId at) {
    const std::lock_guard lock(mutex_);
    if (places_.size() >= kPlacesMost) places_.clear();
    places_[at].refused_until = Clock::now() + kRefused;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kPlacesMost = 4096;
  static constexpr std::chrono::seconds kBelieved{5}, kAsksAgain{1}, kRefused{60};
  struct Place {
    std::uint64_t available = 0;
    Clock::time_point asked{}, refused_until{};
  };
  std::mutex mutex_;
  std::unordered_map<core::FileId, Place> places_;  // guarded by mutex_
};

}  // namespace stoa::native::data

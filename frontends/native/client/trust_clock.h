// How long a client may believe what it keeps under leases.
//
// A server takes a lease away 30 s after it has begun to recall it, not before. What it answers to a request says that
// it had not been cut off when the request was sent; so for 20 s from then on nothing that matters can have been
// missed. Each channel counts: the one that is silent may be the one that a recall was sent over.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace stoa::native {

// CLOCK_BOOTTIME in ns: it goes on while the machine sleeps.
std::int64_t boot_now_ns();

// Thread-safe.
class TrustClock {
 public:
  static constexpr std::int64_t kTrustNs = 20'000'000'000;
  // A server that ends silent sessions sooner is to be believed for a shorter time: two thirds of that.
  void session_lasts(std::chrono::seconds silence) {
    trust_ns_ = std::min(kTrustNs, std::chrono::nanoseconds(silence).count() / 3 * 2);
  }
  std::int64_t trust_ns() const { return trust_ns_.load(std::memory_order_relaxed); }

  explicit TrustClock(std::size_t channels) : answered_(channels) {}

  // A request that was sent over the channel at `sent_ns` is answered.
  void answered(std::size_t channel, std::int64_t sent_ns);
  // When the newest request was sent that the channel had answered; 0: none was.
  std::int64_t newest(std::size_t channel) const { return answered_[channel].load(std::memory_order_relaxed); }
  // Whether nothing is to be believed now, for all that this channel has heard. Not before it was first heard.
  bool ran_out(std::size_t channel, std::int64_t now_ns) const;

  // Leases were lost, and it is not known which: nothing is believed until this doubt, the newest, is settled.
  std::uint64_t doubt() { return ++doubt_; }
  std::uint64_t newest_doubt() const { return doubt_.load(); }
  // False: there is a newer doubt.
  bool settle(std::uint64_t doubt);
  std::int64_t until_ns() const;

 private:
  std::atomic<std::int64_t> trust_ns_{kTrustNs};
  std::vector<std::atomic<std::int64_t>> answered_;
  std::atomic<std::uint64_t> doubt_{0}, settled_{0};
};

}  // namespace stoa::native

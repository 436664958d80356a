// One limit as virtual time (the generic cell rate algorithm): the time until which the admitted amount lasts at the
// rate of the limit. Lock-free. Times are nanoseconds of the scheduler's clock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace stoa::qos {

class Bucket {
 public:
  static constexpr std::int64_t kAtOnce = std::numeric_limits<std::int64_t>::min();

  bool limited() const { return ns_per_unit_.load(std::memory_order_relaxed) > 0; }
  // The time that `amount` takes at this rate; 0: there is no limit.
  std::int64_t cost(std::uint64_t amount) const {
    const double ns = static_cast<double>(amount) * ns_per_unit_.load(std::memory_order_relaxed);
    return ns < kCostMax ? static_cast<std::int64_t>(ns + 0.5) : static_cast<std::int64_t>(kCostMax);
  }
  // The time when the next request may be admitted.
  std::int64_t ready_at(std::int64_t burst) const {
    return limited() ? paid_until_.load(std::memory_order_relaxed) - burst : kAtOnce;
  }
  // Pays any amount, unless more than `burst` is paid ahead. A payment can be given back as the same cost.
  bool take(std::int64_t now, std::int64_t burst, std::int64_t cost) {
    std::int64_t until = paid_until_.load(std::memory_order_relaxed);
    do {
      if (until > now + burst) return false;
    } while (!paid_until_.compare_exchange_weak(until, std::max(until, now) + cost, std::memory_order_relaxed));
    return true;
  }
  // Pays unconditionally, up to `most`; a payment further ahead already stays.
  void pay(std::int64_t now, std::int64_t cost, std::int64_t most) {
    std::int64_t until = paid_until_.load(std::memory_order_relaxed);
    while (!paid_until_.compare_exchange_weak(until, std::max(until, std::min(std::max(until, now) + cost, most)),
                                              std::memory_order_relaxed)) {
    }
  }
  void give_back(std::int64_t cost) { paid_until_.fetch_sub(cost, std::memory_order_relaxed); }

  // Debts keep their amount in units, and so last shorter or longer. One thread at a time.
  void set_rate(std::int64_t now, std::optional<std::uint64_t> per_second) {
    const double before = ns_per_unit_.load(std::memory_order_relaxed);
    const double after = per_second ? 1e9 / static_cast<double>(std::max<std::uint64_t>(*per_second, 1)) : 0;
    if (before == after) return;
    std::int64_t until = paid_until_.load(std::memory_order_relaxed);
    std::int64_t wanted = kRested;
    do {
      const double debt = until > now && before > 0 ? static_cast<double>(until - now) / before * after : 0;
      wanted = after > 0 && until > now ? now + static_cast<std::int64_t>(std::min(debt, kCostMax)) : kRested;
    } while (!paid_until_.compare_exchange_weak(until, wanted, std::memory_order_relaxed));
    ns_per_unit_.store(after, std::memory_order_relaxed);
  }

 private:
  static constexpr double kCostMax = 1e18;  // 31 years
  static constexpr std::int64_t kRested = std::numeric_limits<std::int64_t>::min() / 4;

  std::atomic<double> ns_per_unit_{0};  // 0: no limit
  std::atomic<std::int64_t> paid_until_{kRested};
};

}  // namespace stoa::qos

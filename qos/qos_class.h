// A QoS class: a group of requests whose use of the volume is limited, shared out and counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "qos/bucket.h"
#include "qos/price.h"

namespace stoa::qos {

class Scheduler;

// The use of a QoS class since it was made.
struct QosUse {
  ByResource<std::uint64_t> admitted{};
  std::uint64_t parked = 0;   // requests that had to wait
  std::uint64_t refused = 0;  // requests that were answered busy
  std::uint32_t waiting = 0;  // requests that wait now
};

// Made by and for one scheduler, which alone changes its limits. Shared: requests that wait hold on to it.
class QosClass : public std::enable_shared_from_this<QosClass> {
 public:
  QosClass() = default;
  QosClass(const QosClass&) = delete;

  // Thread-safe, does not block.
  QosUse use() const;
  // The time for which `price` keeps its limits busy, in nanoseconds; 0: it has none for it. As use().
  std::int64_t cost(const Price& price) const;
  // Prefetches the members that a request of that kind pays from, for callers with other work to do meanwhile.
  void prefetch(Kind kind) const { __builtin_prefetch(&meter(kind), 1); }

 private:
  friend class Scheduler;

  // The members that a request reads and changes: one cache line for each kind, because with many QoS classes hardly
  // one is in the cache.
  struct alignas(64) Meter {
    struct Part {
      Bucket limit;
      std::atomic<std::uint64_t> admitted{0};
    };
    std::atomic<std::int64_t> burst{0};
    // Requests of that kind wait because of this QoS class: others must not overtake them.
    std::atomic<bool> contended{false};
    std::array<Part, 2> parts{};  // the kind's resources
  };
  static_assert(sizeof(Meter) == 64);

  // --- any thread
  bool contended(Kind kind) const { return meter(kind).contended.load(std::memory_order_relaxed); }
  void set_contended(Kind kind, bool yes) { meter(kind).contended.store(yes, std::memory_order_relaxed); }
  // Pays all limits, or none and returns the time of the next attempt.
  bool take(const Price& price, std::int64_t now, std::int64_t* next);
  // Pays for a request passed at its deadline. Such debts stay small, otherwise late requests would block others for
  // ever.
  void pay_late(const Price& price, std::int64_t now);
  void give_back(const Price& price);
  void count(const Price& price);
  // The time when requests of that kind may be admitted next.
  std::int64_t ready_at(Kind kind) const;

  Meter& meter(Kind kind) { return meters_[static_cast<std::size_t>(kind)]; }
  const Meter& meter(Kind kind) const { return meters_[static_cast<std::size_t>(kind)]; }
  Meter::Part& part(std::size_t resource);
  const Meter::Part& part(std::size_t resource) const;

  // --- under the scheduler's lock
  void set(const Limits& limits, std::int64_t now);
  bool guaranteed(Kind kind) const;
  // Since when it has had less than its guarantee: not after now, when it should be served first.
  std::int64_t guarantee_due(Kind kind) const;
  // `first`: it was served because of its guarantee, else because it was its turn anyway.
  void use_guarantee(const Price& price, std::int64_t now, bool first);

  std::uint32_t weight_ = kWeightDefault;
  std::uint32_t waiting_itself_ = 0;       // waiting requests whose path ends here
  ByResource<std::uint64_t> guarantee_{};  // 0: none
  ByResource<std::int64_t> guarantee_until_{};

  // --- counted by any thread; `waiting_` under the scheduler's lock
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint64_t> parked_{0};
  std::atomic<std::uint64_t> refused_{0};

  std::array<Meter, kKinds> meters_{};
};

}  // namespace stoa::qos

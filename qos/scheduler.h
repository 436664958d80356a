// Admission of requests to QoS classes: at once, or parked and granted in fair order.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "qos/price.h"
#include "qos/qos_class.h"

namespace stoa::qos {

// Limits of waiting requests, in all and below each QoS class. Requests with the same path may take at most as many
// places as they leave free. So many users can wait side by side, and none keeps others out.
struct SchedulerLimits {
  std::size_t parked_max = 16384;               // in all
  std::size_t parked_per_qos_class_max = 4096;  // below each QoS class
};

// For metrics; each may be absent.
struct SchedulerCounters {
  Counter* parked = nullptr;  // requests that had to wait
  Counter* busy = nullptr;    // requests answered busy, or expired
};

// Nanoseconds that only grow.
using Clock = std::function<std::int64_t()>;
std::int64_t steady_ns();

enum class Verdict : std::uint8_t {
  kGranted,
  kParked,
  kBusy,  // the queue is full
};

// The terms of a request's wait.
struct Wait {
  std::int64_t deadline;  // of the scheduler's clock
  // The price paid for a grant at the deadline, even beyond the limits; absent: it is refused then.
  std::optional<Price> at_deadline{};
  const void* owner;  // for cancel(); may be null
  // Called once, with no lock held, by the thread that finds it due: must be quick and must not call the scheduler. Not
  // called when park() did not answer kParked, nor after cancel().
  std::function<void(bool granted)> resume;
};

// Thread-safe. Paths name QoS classes of this scheduler from the general to the particular, none of them twice; a
// request with an empty path needs no admission.
class Scheduler {
 public:
  explicit Scheduler(const SchedulerLimits& limits = {}, Clock clock = steady_ns,
                     const SchedulerCounters& counters = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;

  // Pays and returns true when no QoS class on the path is over its limit; else nothing is paid. Takes no lock.
  bool admit(std::span<QosClass* const> path, const Price& price) { return admit(path, price, now()); }
  // The same for callers that ask for many at once: `now` is the time of a moment ago.
  bool admit(std::span<QosClass* const> path, const Price& price, std::int64_t now);
  std::int64_t now() const { return clock_(); }
  // Queues a request that admit() refused. The QoS classes are kept alive until it is resolved.
  Verdict park(std::span<QosClass* const> path, const Price& price, Wait wait);
  // Forgets the requests of this owner (its connection is gone). A resume() that another thread has begun may still
  // run.
  void cancel(const void* owner);
  // Refuses the requests of this owner (it is stopping).
  void refuse(const void* owner);
  // Returns when no resume() runs that was begun before.
  void quiesce();

  // Applies to the very next request, and to waiting ones. A QoS class that has no settings any more is given empty
  // limits.
  void change(std::span<const std::pair<QosClass*, Limits>> changes);

  // Grants and refuses all due requests. Returns the time to ask again; kNever: no request waits.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::int64_t serve();
  // The life of the thread that does so in time; with the steady clock only.
  void keep_serving(const std::stop_token& stop);

  std::size_t parked() const;

 private:
  struct Branch;
  struct Parked;
  using Resumed = std::vector<std::pair<std::function<void(bool)>, bool>>;
  using Turn = std::tuple<double, std::uint64_t, Branch*>;
  using Sleeper = std::tuple<std::int64_t, std::uint64_t, Branch*>;

  static constexpr std::int64_t kServed = Bucket::kAtOnce;
  static constexpr std::int64_t kAwake = Bucket::kAtOnce;

  // All of these under mutex_.
  bool has_room(std::span<QosClass* const> path) const;
  Branch& lane_for(std::span<QosClass* const> path, Kind kind);
  void rouse(Branch& lane, Kind kind);
  void watch_guarantee(Branch& branch, Kind kind, std::int64_t due);
  void forget_guarantee(Branch& branch, Kind kind);
  void serve_locked(std::int64_t now);
  void expire(std::int64_t now);
  bool serve_guaranteed(Kind kind, std::int64_t now);
  std::int64_t serve_branch(Branch& branch, Kind kind, std::int64_t now, const Branch* first);
  std::int64_t serve_lane(Branch& lane, Kind kind, std::int64_t now, const Branch* first);
  void note_served(Branch& lane, const Price& price, std::int64_t now, const Branch* first);
  void finish(Parked& parked, bool granted);
  void take_out(Parked& parked);
  void deliver(std::unique_lock<std::mutex>& lock);

  const SchedulerLimits limits_;
  const Clock clock_;
  const SchedulerCounters counters_;

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable_any wake_;
  std::condition_variable quiesced_;
  std::array<std::unique_ptr<Branch>, kKinds> roots_;
  std::array<std::set<Sleeper>, kKinds> guaranteed_;  // branches that wait and have a guarantee, by when it is due
  std::list<Parked> parked_;
  std::set<std::pair<std::int64_t, Parked*>> by_deadline_;
  std::set<std::pair<const void*, Parked*>> by_owner_;
  std::uint64_t next_serial_ = 0;
  std::int64_t next_wake_ = kNever;
  std::int64_t asleep_until_ = kAwake;  // of the serving thread
  Parked* newcomer_ = nullptr;          // is in park() just now, and learns its fate there
  bool newcomer_granted_ = false;
  Resumed resumed_;  // to be called when the lock is gone
  std::uint64_t deliveries_begun_ = 0;
  std::set<std::uint64_t> delivering_;
};

}  // namespace stoa::qos

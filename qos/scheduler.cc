#include "qos/scheduler.h"

#include <algorithm>

namespace stoa::qos {
namespace {

// Without a limit above, an operation counts like this many bytes.
constexpr double kBytesOfOperation = 4096;
// The serving thread sleeps at least this long, so that requests due meanwhile are served together. Less than
// kBurstMin.
constexpr std::chrono::milliseconds kNap{1};
// Idle children of a branch are kept while they are few, because they remember the order of turns.
constexpr std::size_t kIdleChildren = 16;

void count(Counter* counter) {
  if (counter != nullptr) counter->add();
}

double plain_cost(const Price& price) {
  const auto at = [&price](Resource resource) { return static_cast<double>(price.amount[resource]); };
  return at(Resource::kReadBytes) + at(Resource::kWriteBytes) +
         kBytesOfOperation * (at(Resource::kReadOps) + at(Resource::kWriteOps) + at(Resource::kMetadataOps));
}

}  // namespace

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A request that waits.
struct Scheduler::Parked {
  std::vector<std::shared_ptr<QosClass>> path;
  Price price;
  Wait wait;
  Branch* lane = nullptr;
  std::list<Parked*>::iterator place{};  // in its lane
  std::list<Parked>::iterator self{};    // in parked_
};

// A QoS class below other QoS classes; or, without a QoS class, the lane of requests whose path ends at the branch
// above.
struct Scheduler::Branch {
  enum class State : std::uint8_t { kIdle, kReady, kAsleep };

  Branch* parent = nullptr;
  std::shared_ptr<QosClass> qos_class{};
  std::uint64_t serial = 0;                                 // order of arrival, where turns are equal
  std::map<QosClass*, std::unique_ptr<Branch>> children{};  // null: the lane
  std::list<Parked*> queue{};                               // of a lane
  std::size_t waiting = 0;                                  // requests in and below it
  double now = 0;                                           // virtual time of the children's turns
  double start = 0;                                         // its own next turn, in the parent's virtual time
  std::int64_t wake = 0;                                    // when asleep
  std::int64_t due = 0;                                     // its key in guaranteed_
  State state = State::kIdle;
  bool watched = false;  // in guaranteed_
  std::set<Turn> ready{};
  std::set<Sleeper> asleep{};

  bool is_lane() const { return qos_class == nullptr && parent != nullptr; }
  double weight() const { return qos_class != nullptr ? qos_class->weight_ : kWeightDefault; }
  // The time for which `price` occupies the resource shared by the children of this branch.
  double cost(const Price& price) const {
    for (const Branch* b = this; b != nullptr; b = b->parent) {
      const std::int64_t ns = b->qos_class != nullptr ? b->qos_class->cost(price) : 0;
      if (ns > 0) return static_cast<double>(ns);
    }
    return plain_cost(price);
  }
  // Takes the branch out of its parent's order, in any state.
  void leave_order() {
    if (state == State::kReady) parent->ready.erase({start, serial, this});
    if (state == State::kAsleep) parent->asleep.erase({wake, serial, this});
    state = State::kIdle;
  }
  void get_ready() {
    leave_order();
    state = State::kReady;
    parent->ready.insert({start, serial, this});
  }
  void go_to_sleep(std::int64_t until) {
    leave_order();
    state = State::kAsleep;
    wake = until;
    parent->asleep.insert({until, serial, this});
  }
};

Scheduler::Scheduler(const SchedulerLimits& limits, Clock clock, const SchedulerCounters& counters)
    : limits_(limits), clock_(std::move(clock)), counters_(counters) {
  for (auto& root : roots_) root = std::make_unique<Branch>();
}
Scheduler::~Scheduler() = default;

// --- at once
// -----------------------------------------------------------------------------------------------------------

bool Scheduler::admit(std::span<QosClass* const> path, const Price& price, std::int64_t now) {
  const Kind kind = price.kind();
  for (const QosClass* qos_class : path) {
    if (qos_class->contended(kind)) return false;
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i]->take(price, now, nullptr)) continue;
    while (i-- > 0) path[i]->give_back(price);
    return false;
  }
  for (QosClass* qos_class : path) qos_class->count(price);
  return true;
}

// --- parking
// -----------------------------------------------------------------------------------------------------------

bool Scheduler::has_room(std::span<QosClass* const> path) const {
  auto room = static_cast<std::int64_t>(limits_.parked_max - parked_.size());
  for (const QosClass* qos_class : path) {
    room = std::min(room, static_cast<std::int64_t>(limits_.parked_per_qos_class_max)) -
           qos_class->waiting_.load(std::memory_order_relaxed);
  }
  return room > path.back()->waiting_itself_;
}

Verdict Scheduler::park(std::span<QosClass* const> path, const Price& price, Wait wait) {
  std::unique_lock lock(mutex_);
  if (!has_room(path)) {
    for (QosClass* qos_class : path) qos_class->refused_.fetch_add(1, std::memory_order_relaxed);
    count(counters_.busy);
    return Verdict::kBusy;
  }
  Parked& parked = parked_.emplace_back();
  parked.self = std::prev(parked_.end());
  for (QosClass* qos_class : path) {
    parked.path.push_back(qos_class->shared_from_this());
    qos_class->waiting_.fetch_add(1, std::memory_order_relaxed);
  }
  ++path.back()->waiting_itself_;
  parked.price = price;
  parked.wait = std::move(wait);
  parked.lane = &lane_for(path, price.kind());
  parked.place = parked.lane->queue.insert(parked.lane->queue.end(), &parked);
  for (Branch* b = parked.lane; b != nullptr; b = b->parent) ++b->waiting;
  rouse(*parked.lane, price.kind());
  by_deadline_.insert({parked.wait.deadline, &parked});
  if (parked.wait.owner != nullptr) by_owner_.insert({parked.wait.owner, &parked});

  newcomer_ = &parked;
  serve_locked(clock_());
  Verdict verdict = newcomer_granted_ ? Verdict::kGranted : Verdict::kBusy;
  if (newcomer_ != nullptr) {
    newcomer_ = nullptr;
    verdict = Verdict::kParked;
    for (QosClass* qos_class : path) qos_class->parked_.fetch_add(1, std::memory_order_relaxed);
    count(counters_.parked);
  }
  deliver(lock);
  return verdict;
}

void Scheduler::cancel(const void* owner) {
  std::unique_lock lock(mutex_);
  bool any = false;
  for (auto it = by_owner_.lower_bound({owner, nullptr}); it != by_owner_.end() && it->first == owner;
       it = by_owner_.lower_bound({owner, nullptr})) {
    take_out(*it->second);
    any = true;
  }
  if (!any) return;
  serve_locked(clock_());  // requests behind it may go
  deliver(lock);
}

void Scheduler::refuse(const void* owner) {
  std::unique_lock lock(mutex_);
  for (auto it = by_owner_.lower_bound({owner, nullptr}); it != by_owner_.end() && it->first == owner;
       it = by_owner_.lower_bound({owner, nullptr})) {
    finish(*it->second, false);
  }
  if (resumed_.empty()) return;
  serve_locked(clock_());
  deliver(lock);
}

void Scheduler::change(std::span<const std::pair<QosClass*, Limits>> changes) {
  std::unique_lock lock(mutex_);
  const std::int64_t now = clock_();
  for (const auto& [qos_class, limits] : changes) {
    qos_class->set(limits, now);
    for (std::size_t kind = 0; kind < kKinds; ++kind) qos_class->set_contended(static_cast<Kind>(kind), false);
  }
  for (auto& watched : guaranteed_) {
    for (const auto& [due, serial, branch] : watched) branch->watched = false;
    watched.clear();
  }
  for (const Parked& parked : parked_) rouse(*parked.lane, parked.price.kind());
  serve_locked(now);
  deliver(lock);
}

std::size_t Scheduler::parked() const {
  const std::lock_guard lock(mutex_);
  return parked_.size();
}

Scheduler::Branch& Scheduler::lane_for(std::span<QosClass* const> path, Kind kind) {
  Branch* branch = roots_[static_cast<std::size_t>(kind)].get();
  const auto descend = [&](QosClass* qos_class) {
    auto& children = branch->children;
    const auto known = children.find(qos_class);
    if (known != children.end()) {
      branch = known->second.get();
      return;
    }
    // Turns of children that the virtual time has passed are worth nothing any more.
    if (children.size() >= kIdleChildren && children.size() >= 2 * (branch->ready.size() + branch->asleep.size())) {
      std::erase_if(children, [now = branch->now](const auto& child) {
        return child.second->waiting == 0 && child.second->start <= now;
      });
    }
    auto child = std::make_unique<Branch>();
    child->parent = branch;
    child->serial = next_serial_++;
    if (qos_class != nullptr) child->qos_class = qos_class->shared_from_this();
    branch = children.emplace(qos_class, std::move(child)).first->second.get();
  };
  for (QosClass* qos_class : path) descend(qos_class);
  descend(nullptr);
  return *branch;
}

// Marks that a request below this branch may be ready.
void Scheduler::rouse(Branch& lane, Kind kind) {
  for (Branch* b = &lane; b->parent != nullptr; b = b->parent) {
    if (b->state == Branch::State::kIdle) b->start = std::max(b->start, b->parent->now);
    b->get_ready();
    // Renewed, because it may wait for the turn of a slower child than the newcomer.
    if (b->qos_class != nullptr && b->qos_class->guaranteed(kind))
      watch_guarantee(*b, kind, b->qos_class->guarantee_due(kind));
  }
}

void Scheduler::watch_guarantee(Branch& branch, Kind kind, std::int64_t due) {
  forget_guarantee(branch, kind);
  branch.watched = true;
  branch.due = due;
  guaranteed_[static_cast<std::size_t>(kind)].insert({due, branch.serial, &branch});
}

void Scheduler::forget_guarantee(Branch& branch, Kind kind) {
  if (!branch.watched) return;
  guaranteed_[static_cast<std::size_t>(kind)].erase({branch.due, branch.serial, &branch});
  branch.watched = false;
}

// --- serving
// -----------------------------------------------------------------------------------------------------------

std::int64_t Scheduler::serve() {
  std::unique_lock lock(mutex_);
  serve_locked(clock_());
  const std::int64_t next = next_wake_;
  deliver(lock);
  return next;
}

void Scheduler::serve_locked(std::int64_t now) {
  expire(now);
  std::int64_t wake = kNever;
  for (std::size_t i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    std::int64_t next = kServed;
    while (next == kServed) {
      if (!serve_guaranteed(kind, now)) next = serve_branch(*roots_[i], kind, now, nullptr);
    }
    wake = std::min(wake, next);
  }
  next_wake_ = by_deadline_.empty() ? wake : std::min(wake, by_deadline_.begin()->first);
  if (next_wake_ < asleep_until_) wake_.notify_one();
}

void Scheduler::expire(std::int64_t now) {
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    Parked& parked = *by_deadline_.begin()->second;
    const std::optional<Price> price = parked.wait.at_deadline;
    if (!price) count(counters_.busy);
    for (const auto& qos_class : parked.path) {
      if (price) {
        qos_class->pay_late(*price, now);
        qos_class->count(*price);
      } else {
        qos_class->refused_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    finish(parked, price.has_value());
  }
}

// Serves one request of a QoS class that has had less than its guarantee. False: there is none that can be served.
bool Scheduler::serve_guaranteed(Kind kind, std::int64_t now) {
  auto& watched = guaranteed_[static_cast<std::size_t>(kind)];
  while (!watched.empty() && std::get<0>(*watched.begin()) <= now) {
    Branch& branch = *std::get<2>(*watched.begin());
    // The same QoS class may have been served elsewhere meanwhile; and all QoS classes above it must be ready.
    std::int64_t next = branch.qos_class->guarantee_due(kind);
    for (Branch* b = branch.parent; b != nullptr; b = b->parent) {
      if (b->qos_class == nullptr) continue;
      const std::int64_t ready = b->qos_class->ready_at(kind);
      if (ready > now) b->qos_class->set_contended(kind, true);
      next = std::max(next, ready);
    }
    if (next <= now) {
      next = serve_branch(branch, kind, now, &branch);
      if (next == kServed) return true;
      next = std::max(next, now + 1);
    }
    watch_guarantee(branch, kind, next);
  }
  return false;
}

// Grants one request below the branch: kServed, else when to ask again. `first`: the branch whose guarantee is served.
std::int64_t Scheduler::serve_branch(Branch& branch, Kind kind, std::int64_t now, const Branch* first) {
  QosClass* const qos_class = branch.qos_class.get();
  if (qos_class != nullptr) {
    const std::int64_t ready = qos_class->ready_at(kind);
    if (ready > now) {
      qos_class->set_contended(kind, true);
      return ready;
    }
  }
  if (branch.is_lane()) return serve_lane(branch, kind, now, first);
  while (!branch.asleep.empty() && std::get<0>(*branch.asleep.begin()) <= now)
    std::get<2>(*branch.asleep.begin())->get_ready();
  while (!branch.ready.empty()) {
    Branch& child = *std::get<2>(*branch.ready.begin());
    const std::int64_t next = serve_branch(child, kind, now, first);
    if (next == kServed) return kServed;
    child.go_to_sleep(std::max(next, now + 1));
  }
  // All requests waiting here wait for other QoS classes.
  if (qos_class != nullptr) qos_class->set_contended(kind, false);
  return branch.asleep.empty() ? kNever : std::get<0>(*branch.asleep.begin());
}

std::int64_t Scheduler::serve_lane(Branch& lane, Kind kind, std::int64_t now, const Branch* first) {
  Parked& parked = *lane.queue.front();
  for (std::size_t i = 0; i < parked.path.size(); ++i) {
    std::int64_t next = now;
    if (parked.path[i]->take(parked.price, now, &next)) continue;
    parked.path[i]->set_contended(kind, true);
    while (i-- > 0) parked.path[i]->give_back(parked.price);
    return std::max(next, now + 1);
  }
  for (const auto& qos_class : parked.path) qos_class->count(parked.price);
  note_served(lane, parked.price, now, first);
  finish(parked, true);
  return kServed;
}

void Scheduler::note_served(Branch& lane, const Price& price, std::int64_t now, const Branch* first) {
  bool by_guarantee = false;
  for (Branch* b = &lane; b->parent != nullptr; b = b->parent) {
    Branch& parent = *b->parent;
    by_guarantee = by_guarantee || b == first;
    const double share = parent.cost(price) / b->weight();
    b->leave_order();
    if (!by_guarantee) {
      parent.now = std::max(parent.now, b->start);
      b->start += share;
    } else if (b->start <= parent.now) {
      // Service by a guarantee counts as one turn at most, so that the branch is not far behind when the guarantee
      // ends.
      b->start += share;
    }
    b->get_ready();
    if (!b->watched) continue;
    b->qos_class->use_guarantee(price, now, b == first);
    watch_guarantee(*b, price.kind(), b->qos_class->guarantee_due(price.kind()));
  }
}

void Scheduler::finish(Parked& parked, bool granted) {
  if (&parked == newcomer_) {
    newcomer_ = nullptr;
    newcomer_granted_ = granted;
  } else {
    resumed_.emplace_back(std::move(parked.wait.resume), granted);
  }
  take_out(parked);
}

void Scheduler::take_out(Parked& parked) {
  const Kind kind = parked.price.kind();
  by_deadline_.erase({parked.wait.deadline, &parked});
  if (parked.wait.owner != nullptr) by_owner_.erase({parked.wait.owner, &parked});
  for (const auto& qos_class : parked.path) qos_class->waiting_.fetch_sub(1, std::memory_order_relaxed);
  --parked.path.back()->waiting_itself_;
  parked.lane->queue.erase(parked.place);
  Branch* quiet = nullptr;
  for (Branch* b = parked.lane; b != nullptr; b = b->parent) {
    if (--b->waiting > 0) continue;
    quiet = b;
    forget_guarantee(*b, kind);
    if (b->parent != nullptr) b->leave_order();
    if (b->qos_class != nullptr) b->qos_class->set_contended(kind, false);
  }
  if (quiet != nullptr) {
    quiet->children.clear();
    quiet->now = 0;
  }
  parked_.erase(parked.self);
}

// Calls the waiters resolved by serving. The lock is gone afterwards.
void Scheduler::deliver(std::unique_lock<std::mutex>& lock) {
  if (resumed_.empty()) return lock.unlock();
  const Resumed resumed = std::exchange(resumed_, {});
  const std::uint64_t number = deliveries_begun_++;
  delivering_.insert(number);
  lock.unlock();
  for (const auto& [resume, granted] : resumed) resume(granted);
  lock.lock();
  delivering_.erase(number);
  quiesced_.notify_all();
  lock.unlock();
}

void Scheduler::quiesce() {
  std::unique_lock lock(mutex_);
  quiesced_.wait(lock,
                 [this, mine = deliveries_begun_] { return delivering_.empty() || *delivering_.begin() >= mine; });
}

void Scheduler::keep_serving(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    serve_locked(clock_());
    if (!resumed_.empty()) {
      deliver(lock);
      lock.lock();
    }
    const std::int64_t until = next_wake_;
    asleep_until_ = until;
    const auto sooner = [this, until] { return next_wake_ < until; };
    if (until == kNever) {
      wake_.wait(lock, stop, sooner);
    } else {
      wake_.wait_for(lock, stop, std::max<std::chrono::nanoseconds>(kNap, std::chrono::nanoseconds(until - clock_())),
                     sooner);
    }
    asleep_until_ = kAwake;
  }
}

}  // namespace stoa::qos

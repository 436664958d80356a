#include "qos/background_throttle.h"

#include <algorithm>
#include <utility>

namespace stoa::qos {

BackgroundThrottle::BackgroundThrottle(Scheduler& scheduler, PolicyContext context)
    : scheduler_(scheduler), around_(std::move(context)), piece_began_(around_.clock()), seen_(around_.requests()) {}

BackgroundThrottle::~BackgroundThrottle() {
  scheduler_.cancel(this);
  scheduler_.quiesce();
}

void BackgroundThrottle::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
}

void BackgroundThrottle::spent(const Price& price) {
  const std::int64_t took = now() - piece_began_;
  const Terms terms = around_.terms();
  pay(price, terms, kPatience);
  if (around_.requests() != seen_) give_way(took, terms.weight);
  seen_ = around_.requests();
  piece_began_ = now();
}

void BackgroundThrottle::spent_unthrottled(const Price& price) {
  pay(price, around_.terms(), 0);
  seen_ = around_.requests();
  piece_began_ = now();
}

void BackgroundThrottle::rest_until(std::int64_t time) {
  for (std::int64_t left = time - now(); left > 0 && !stopped(); left = time - now()) nap(left);
  seen_ = around_.requests();
  piece_began_ = now();
}

void BackgroundThrottle::give_way(std::int64_t took, std::uint32_t weight) {
  const double pause = static_cast<double>(took) * kWeightDefault / std::max<std::uint32_t>(weight, 1);
  const std::int64_t until = now() + static_cast<std::int64_t>(std::min(pause, static_cast<double>(kPauseMax)));
  std::uint64_t before = around_.requests();
  for (std::int64_t left = until - now(); left > 0 && !stopped(); left = until - now()) {
    nap(std::min(left, kLull));
    const std::uint64_t served = around_.requests();
    if (served == before) return;
    before = served;
  }
}

void BackgroundThrottle::pay(const Price& price, const Terms& terms, std::int64_t patience) {
  std::vector<QosClass*> path;
  for (const auto& qos_class : terms.path) path.push_back(qos_class.get());
  if (path.empty() || stopped() || scheduler_.admit(path, price)) return;
  const auto resume = [this](bool) {
    const std::lock_guard lock(mutex_);
    granted_ = true;
    wake_.notify_all();
  };
  const Verdict verdict = scheduler_.park(
      path, price, {.deadline = now() + patience, .at_deadline = price, .owner = this, .resume = resume});
  // Too many wait: as if it had waited for its time.
  if (verdict == Verdict::kBusy) return rest_until(now() + patience);
  if (verdict == Verdict::kGranted) return;  // and resume() is not called
  for (bool granted = false; !granted && !stopped();) {
    nap(kLull);
    const std::lock_guard lock(mutex_);
    granted = granted_;
  }
  if (stopped()) {
    scheduler_.cancel(this);
    scheduler_.quiesce();
  }
  const std::lock_guard lock(mutex_);
  granted_ = false;
}

void BackgroundThrottle::nap(std::int64_t ns) {
  if (around_.nap) return around_.nap(ns);
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return granted_ || stopped(); });
}

}  // namespace stoa::qos

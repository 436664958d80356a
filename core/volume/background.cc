#include "core/volume/background.h"

#include "base/log.h"
#include "core/data/gc.h"

namespace stoa::core {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Background::run() {
  std::unique_lock lock(mutex_);
  const auto period = std::chrono::milliseconds(std::max<std::uint32_t>(tree_.options.lazy_attributes_ms / 2, 100));
  while (!wake_.wait_for(lock, period, [this] { return stop_; })) {
    lock.unlock();
    for (const auto work : {flush_lazy, collect_garbage}) {
      if (const Status done = work(tree_); !done) {
        log_error("background", "a round of background work failed", {{"error", describe(done.error())}});
      }
    }
    lock.lock();
  }
}

}  // namespace stoa::core

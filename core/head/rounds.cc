#include "core/head/rounds.h"

#include <algorithm>

#include "base/assert.h"
#include "base/time_source.h"

namespace stoa::core {

Rounds::~Rounds() {
  {
    const std::lock_guard lock(mutex_);
    STOA_ASSERT(works_.empty(), "works end before their threads");
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Rounds::Id Rounds::add(Clock::duration period, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  const Id id{++last_id_};
  works_.emplace(id, Work{.period = period, .due = kSystemTime.steady() + period, .run = std::move(work)});
  STOA_ASSERT(!stop_, "no work is added behind the end");
  if (threads_.size() < std::min(threads_max_, works_.size())) threads_.emplace_back([this] { serve(); });
  wake_.notify_one();
  return id;
}

void Rounds::call(Id id) {
  const std::lock_guard lock(mutex_);
  const auto found = works_.find(id);
  if (found == works_.end()) return;
  found->second.due = Clock::time_point::min();
  wake_.notify_one();
}

void Rounds::remove(Id id) {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] {
    const auto found = works_.find(id);
    return found == works_.end() || !found->second.running;
  });
  works_.erase(id);
}

Rounds::Works::iterator Rounds::next() {
  auto first = works_.end();
  for (auto at = works_.begin(); at != works_.end(); ++at) {
    if (!at->second.running && (first == works_.end() || at->second.due < first->second.due)) first = at;
  }
  return first;
}

void Rounds::serve() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto at = next();
    if (at == works_.end()) {
      wake_.wait(lock);
      continue;
    }
    if (at->second.due > kSystemTime.steady()) {
      wake_.wait_until(lock, at->second.due);
      continue;
    }
    // While it runs nothing removes it, so it stays where it is.
    Work& work = at->second;
    work.running = true;
    work.due = Clock::time_point::max();
    lock.unlock();
    work.run();
    lock.lock();
    STOA_ASSERT(work.running, "a work is run by one thread at a time");
    work.running = false;
    if (work.due == Clock::time_point::max())
      work.due = kSystemTime.steady() + work.period;  // else it was called meanwhile
    ended_.notify_all();
    wake_.notify_one();
  }
}

}  // namespace stoa::core

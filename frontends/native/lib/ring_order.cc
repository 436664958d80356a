#include "frontends/native/lib/ring_order.h"

namespace stoa::native::lib {
namespace {

void run(data::Workers& workers, const std::function<void()>& job) {
  try {
    if (workers.post(job)) return;
  } catch (const std::bad_alloc&) {
    // By this thread, then.
  }
  job();
}

}  // namespace

bool RingOrder::is_busy(core::FileId file) const {
  const std::lock_guard lock(mutex_);
  return files_.contains(file);
}

void RingOrder::add(data::Workers& workers, RingOperation operation, const Carry& carry) {
  std::function<void()> job;
  if (operation.file == nullptr) {
    job = [carry, one = std::make_shared<RingOperation>(std::move(operation))] { carry(*one); };
  } else {
    const core::FileId file = operation.file->id;
    job = [self = shared_from_this(), file, carry] { self->carry_out(file, carry); };
    const std::lock_guard lock(mutex_);
    const auto [at, is_first] = files_.try_emplace(file);
    try {
      at->second.push_back(std::move(operation));
    } catch (...) {
      if (is_first) files_.erase(at);
      throw;
    }
    if (!is_first) return;
  }
  run(workers, job);
}

// The file may be closed by the program as soon as its last operation is done.
void RingOrder::carry_out(core::FileId file, const Carry& carry) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = files_.find(file);
    if (found->second.empty()) {
      files_.erase(found);
      return;
    }
    RingOperation operation = std::move(found->second.front());
    found->second.pop_front();
    lock.unlock();
    carry(operation);
    lock.lock();
  }
}

}  // namespace stoa::native::lib

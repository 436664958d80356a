#include "frontends/admin/event_stream.h"

#include <algorithm>
#include <utility>

namespace stoa::admin {

void EventStream::wake_taker() {
  if (auto wake = std::exchange(wake_, nullptr)) wake();
}

void EventStream::add(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (closed_ || ended_) return;
  waiting_.append(text);
  wake_taker();
}

bool EventStream::full() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() - taken_ >= kBytesMax;
}

void EventStream::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_taker();
}

EventStream::Take EventStream::take(char* into, std::size_t most, std::size_t& taken, const std::function<void()>& rest,
                                    std::function<void()> wake) {
  std::unique_lock lock(mutex_);
  const std::size_t left = waiting_.size() - taken_;
  if (left == 0) {
    if (ended_) return Take::kEnd;
    rest();
    wake_ = std::move(wake);
    return Take::kNone;
  }
  taken = std::min(left, most);
  waiting_.copy(into, taken, taken_);
  taken_ += taken;
  if (taken_ == waiting_.size()) waiting_.clear(), taken_ = 0;
  const bool drained = left >= kBytesMax && left - taken < kBytesMax && drained_;
  const auto tell = drained ? drained_ : nullptr;
  lock.unlock();
  if (tell) tell();
  return Take::kSome;
}

void EventStream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_ = nullptr;
  waiting_ = {};
  taken_ = 0;
}

bool EventStream::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void EventStream::when_drained(std::function<void()> drained) {
  const std::lock_guard lock(mutex_);
  drained_ = std::move(drained);
}

}  // namespace stoa::admin

#include "frontends/wire/interest.h"

namespace stoa::wire {

void Interest::rearm_locked() {
  epoll_event event{};
  const bool unread = want_in_ && unread_.load(std::memory_order_relaxed);
  event.events = EPOLLONESHOT | (want_in_ ? EPOLLIN : 0u) | (want_out_ || unread ? EPOLLOUT : 0u);
  event.data.u64 = key_;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd_, &event);  // Fails only when the connection was taken out; then all is over.
}

Interest::Ready Interest::take(std::uint32_t events) {
  const std::lock_guard lock(mutex_);
  const bool trouble = (events & (EPOLLHUP | EPOLLERR)) != 0;
  Ready ready;
  ready.in = want_in_ && (trouble || (events & EPOLLIN) != 0 || unread_.load(std::memory_order_relaxed));
  ready.out = want_out_ && (trouble || (events & EPOLLOUT) != 0);
  if (ready.in) want_in_ = false;
  if (ready.out) want_out_ = false;
  if (want_in_ || want_out_) rearm_locked();  // One shot has switched off both.
  return ready;
}

void Interest::want_output() {
  const std::lock_guard lock(mutex_);
  if (want_out_) return;
  want_out_ = true;
  rearm_locked();
}

}  // namespace stoa::wire

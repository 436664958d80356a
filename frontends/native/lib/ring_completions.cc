#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "frontends/native/lib/ring.h"

namespace stoa::native::lib {

Result<std::shared_ptr<RingCompletions>> RingCompletions::make() {
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) return fail_errno(errno, "eventfd");
  return std::shared_ptr<RingCompletions>(new RingCompletions(event));
}

RingCompletions::~RingCompletions() {
  ::close(event_);
}

void RingCompletions::expect(std::size_t count) {
  const std::lock_guard lock(mutex_);
  under_way_ += count;
}

void RingCompletions::add(std::span<const stoa_completion> done) {
  if (done.empty()) return;
  const std::lock_guard lock(mutex_);
  const bool was_empty = done_.empty();
  done_.insert(done_.end(), done.begin(), done.end());
  under_way_ -= done.size();
  // Readable as long as there is one, so the first of them is enough.
  if (was_empty) (void)::eventfd_write(event_, 1);
  changed_.notify_all();
}

std::size_t RingCompletions::in_use() const {
  const std::lock_guard lock(mutex_);
  return under_way_ + done_.size();
}

bool RingCompletions::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_ != 0;
}

std::size_t RingCompletions::take(std::span<stoa_completion> into, std::size_t least, int timeout_ms) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = std::min({least, into.size(), done_.size() + under_way_});
  const auto enough = [&] { return done_.size() >= wanted; };
  if (timeout_ms < 0) {
    changed_.wait(lock, enough);
  } else if (timeout_ms > 0) {
    changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), enough);
  }
  const std::size_t count = std::min(into.size(), done_.size());
  std::copy_n(done_.begin(), count, into.begin());
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(count));
  eventfd_t read = 0;
  if (count != 0 && done_.empty()) (void)::eventfd_read(event_, &read);
  return count;
}

void RingCompletions::wait_for_all() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return under_way_ == 0; });
}

void RingCompletions::give_up(OpenNumber open) {
  const std::lock_guard lock(mutex_);
  given_up_.push_back(open);
}

std::vector<OpenNumber> RingCompletions::take_given_up() {
  const std::lock_guard lock(mutex_);
  return std::exchange(given_up_, {});
}

}  // namespace stoa::native::lib

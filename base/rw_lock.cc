#include "base/rw_lock.h"

#include <algorithm>
#include <ctime>

namespace stoa {

RwLock::RwLock() {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&lock_, &attributes);
  pthread_rwlockattr_destroy(&attributes);
}

bool RwLock::wait_by(const Deadline& deadline, int (*lock)(pthread_rwlock_t*, const timespec*)) {
  // The kind of wait that all sanitizers know goes by the wall clock, so it is cut in slices: that clock may be set.
  constexpr auto kSlice = std::chrono::seconds(1);
  for (;;) {
    const auto left = deadline.is_never() ? Deadline::Clock::duration(kSlice) : deadline.at() - Deadline::Clock::now();
    if (left <= Deadline::Clock::duration::zero()) return false;
    const Timestamp now = wall_now();
    const Timestamp until{now.ns + std::min<Deadline::Clock::duration>(left, kSlice).count()};
    const timespec at{.tv_sec = until.seconds(), .tv_nsec = until.nanoseconds()};
    if (lock(&lock_, &at) == 0) return true;
  }
}

}  // namespace stoa

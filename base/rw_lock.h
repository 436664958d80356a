// A reader-writer lock that lets waiting writers go first, so that a stream of readers cannot starve them (glibc's
// default, and so std::shared_mutex, prefers readers). A thread must not take the shared side twice.
#pragma once

#include <pthread.h>

#include <mutex>
#include <shared_mutex>

#include "base/deadline.h"
#include "base/error.h"

namespace stoa {

class RwLock {
 public:
  RwLock();
  ~RwLock() { pthread_rwlock_destroy(&lock_); }
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  bool try_lock() { return pthread_rwlock_trywrlock(&lock_) == 0; }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  bool try_lock_shared() { return pthread_rwlock_tryrdlock(&lock_) == 0; }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }
  // False: the deadline passed. A free lock costs no look at a clock.
  bool lock_by(const Deadline& deadline) { return try_lock() || wait_by(deadline, pthread_rwlock_timedwrlock); }
  bool lock_shared_by(const Deadline& deadline) {
    return try_lock_shared() || wait_by(deadline, pthread_rwlock_timedrdlock);
  }

 private:
  bool wait_by(const Deadline& deadline, int (*lock)(pthread_rwlock_t*, const timespec*));

  pthread_rwlock_t lock_;
};

// Locks of operations. kTimeout: the deadline passed.
inline Result<std::unique_lock<RwLock>> lock_by(RwLock& lock, const Deadline& deadline) {
  if (!lock.lock_by(deadline)) return fail(Cause::kFileNotFree);
  return std::unique_lock(lock, std::adopt_lock);
}
inline Result<std::shared_lock<RwLock>> share_by(RwLock& lock, const Deadline& deadline) {
  if (!lock.lock_shared_by(deadline)) return fail(Cause::kFileNotFree);
  return std::shared_lock(lock, std::adopt_lock);
}

}  // namespace stoa

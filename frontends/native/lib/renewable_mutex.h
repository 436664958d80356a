// A mutex that a child of fork(2) makes anew, whoever held it in the parent.
#pragma once

#include <memory>
#include <mutex>

namespace stoa::native::lib {

class RenewableMutex {
 public:
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // In the child only, before another thread is there: a std::mutex owns nothing, so the old one need not be ended.
  void renew() { std::construct_at(&mutex_); }

 private:
  std::mutex mutex_;
};

}  // namespace stoa::native::lib

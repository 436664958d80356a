#include "frontends/native/lib/fork_child.h"

#include <pthread.h>

#include <mutex>
#include <new>

namespace stoa::native::lib {
namespace {

// Guards the list of all handles. Held over a fork, so that the child finds the list whole.
constinit std::mutex g_handles_mutex;
constinit ForkChild* g_handles = nullptr;

void before_fork() {
  g_handles_mutex.lock();
}
void after_fork_in_parent() {
  g_handles_mutex.unlock();
}

}  // namespace

void renew_in_child() {
  for (ForkChild* handle = g_handles; handle != nullptr; handle = handle->next_) handle->in_child();
  g_handles_mutex.unlock();
}

ForkChild::ForkChild() {
  static const int registered = pthread_atfork(before_fork, after_fork_in_parent, renew_in_child);
  if (registered != 0) throw std::bad_alloc();  // ENOMEM is its only error
  const std::lock_guard lock(g_handles_mutex);
  next_ = g_handles;
  if (next_ != nullptr) next_->previous_ = this;
  g_handles = this;
}

ForkChild::~ForkChild() {
  const std::lock_guard lock(g_handles_mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : g_handles) = next_;
}

}  // namespace stoa::native::lib

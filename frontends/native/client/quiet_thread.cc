#include "frontends/native/client/quiet_thread.h"

#include <pthread.h>

#include <csignal>
#include <system_error>

namespace stoa::native {

Status start_quiet_thread(std::thread& thread, std::function<void()> run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread has the mask of the one that starts it
  Status started;
  try {
    thread = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    started = fail(Errc::kBusy, std::string("a thread cannot be started: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace stoa::native

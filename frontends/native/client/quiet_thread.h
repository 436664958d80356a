// Threads of the library, in programs that know nothing of them.
#pragma once

#include <functional>
#include <thread>

#include "base/error.h"

namespace stoa::native {

// Starts a thread with all signals blocked, so that the program's handlers never run there. kBusy: the system gives no
// more threads.
Status start_quiet_thread(std::thread& thread, std::function<void()> run);

}  // namespace stoa::native

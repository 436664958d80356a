// Threads of a load whose calls block.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>

#include "bench/load/outcome.h"

namespace stoa::bench {

struct Finished {
  std::uint64_t operations = 1;
  std::uint64_t bytes = 0;  // of all of them
};
using Tried = std::expected<Finished, std::string>;  // or why it failed

// One call, by one of the threads: `index` counts its calls from 0.
using Call = std::function<Tried(unsigned thread, std::uint64_t index)>;

struct ThreadPlan {
  unsigned threads = 1;
  std::uint64_t calls = 0;  // of each thread; 0: until `seconds` are over
  double seconds = 0;       // 0: no limit of time
};

// Runs the calls and counts them in `total`; the time of a call is that of each of its operations. A thread ends after
// 20 failures.
void run_threads(const ThreadPlan& plan, const Call& call, Outcome& total);

}  // namespace stoa::bench

// The end of a generator when going on makes no sense.
#pragma once

#include <errno.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace stoa::bench {

[[noreturn]] inline void die(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  std::exit(2);
}

}  // namespace stoa::bench

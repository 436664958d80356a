// Exit codes of stoa.
#pragma once

#include "base/error.h"

namespace stoa::cli {

// Documented in stoa(1); scripts depend on them: never renumber.
enum ExitCode : int {
  kDone = 0,
  kRefused = 1,        // the request was understood and refused, or failed; the message has the
                       // reason
  kUsage = 2,          // the command line is wrong
  kNotRunning = 3,     // no stoad could be reached
  kMissing = 4,        // the named object does not exist
  kTaken = 5,          // the object to be made exists already
  kDenied = 6,         // the token is wrong, or a file may not be read
  kProblemsFound = 7,  // check: the volume has problems
};

ExitCode exit_code(Errc code);

}  // namespace stoa::cli

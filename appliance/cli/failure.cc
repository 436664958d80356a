#include "appliance/cli/failure.h"

namespace stoa::cli {

ExitCode exit_code(Errc code) {
  switch (code) {
    case Errc::kShutdown:
      return kNotRunning;
    case Errc::kNotFound:
    case Errc::kStale:
    case Errc::kNoAttribute:
      return kMissing;
    case Errc::kExists:
      return kTaken;
    case Errc::kAccess:
    case Errc::kNotOwner:
      return kDenied;
    default:
      return kRefused;
  }
}

}  // namespace stoa::cli

// The flags of open(2), as stoa_open takes them.
#pragma once

#include <fcntl.h>

#include "core/api/requests.h"

namespace stoa::native::lib {

// kInvalid: a flag that is not served, or a combination without a meaning.
Status check_flags(int flags);
std::uint32_t share_access(int flags);
core::OpenDisposition disposition(int flags);
inline bool is_durable(int flags) {
  return (flags & (O_SYNC | O_DSYNC)) != 0;
}
// O_TMPFILE has the bit of O_DIRECTORY.
inline bool is_nameless(int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace stoa::native::lib

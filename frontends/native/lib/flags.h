// The STOA_ flags of calls.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "frontends/native/lib/stoa.h"

namespace stoa::native::lib {

// kInvalid: a flag that the call does not have.
inline Status only(std::uint32_t flags, std::uint32_t known) {
  if ((flags & ~known) != 0) return fail(Errc::kInvalid);
  return {};
}
inline bool follows(std::uint32_t flags) {
  return (flags & STOA_NOFOLLOW) == 0;
}

}  // namespace stoa::native::lib

// The one translation of our errors to the errno of a system call.
#pragma once

#include "base/error.h"

namespace stoa::native::fuse {

// A positive errno. Error::sys_errno counts where it is set.
int errno_of(const Error& error);
int errno_of(Errc code);

}  // namespace stoa::native::fuse

#include "frontends/native/lib/c_result.h"

#include "frontends/native/fuse/errno_table.h"

namespace stoa::native::lib {

int negative_errno(const Error& error) {
  return -fuse::errno_of(error);
}

}  // namespace stoa::native::lib

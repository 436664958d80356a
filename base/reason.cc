#include "base/reason.h"

#include <system_error>

namespace stoa {

std::string reason(const Error& error) {
  if (error.sys_errno != 0) return std::generic_category().message(error.sys_errno);
  return std::string(error.cause != Cause::kNone ? to_string(error.cause) : to_string(error.code));
}

}  // namespace stoa

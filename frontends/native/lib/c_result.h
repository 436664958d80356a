// Results as the calls of stoa.h return them.
#pragma once

#include <cerrno>
#include <cstdint>
#include <new>

#include "base/error.h"

namespace stoa::native::lib {

// -errno of an error.
int negative_errno(const Error& error);

// Runs the body of a call that returns Status. No exception leaves the library.
template <class Body>
int c_status(const Body& body) noexcept {
  try {
    const Status status = body();
    return status ? 0 : negative_errno(status.error());
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (...) {
    return -EIO;
  }
}

// The same for Result of a number.
template <class Body>
std::int64_t c_number(const Body& body) noexcept {
  try {
    const auto result = body();
    return result ? static_cast<std::int64_t>(*result) : negative_errno(result.error());
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (...) {
    return -EIO;
  }
}

}  // namespace stoa::native::lib

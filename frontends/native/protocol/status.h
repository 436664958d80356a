// The one table from Errc to the status of the native protocol, and back.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace stoa::native {

enum class WireStatus : std::uint16_t {
  ok = 0,
#define STOA_NATIVE_STATUS(number, name, errc) name = number,
#include "frontends/native/protocol/status.def"
};

WireStatus to_status(Errc code);
// kIo for a number that is not known; there is none for ok.
Errc to_errc(WireStatus status);
std::string_view to_string(WireStatus status);

}  // namespace stoa::native

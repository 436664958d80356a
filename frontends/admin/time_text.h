// Times as the admin interface writes and reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoa::admin {

// RFC 3339 in UTC with nanoseconds, as far as there are any.
std::string time_text(Timestamp time);
// The same for sentences: whole seconds.
inline std::string seconds_text(Timestamp time) {
  return time_text(Timestamp::from(time.seconds(), 0));
}
// "2026-12-31T23:59:59Z", with up to nine digits of a fraction; absent: anything else, other zones included.
std::optional<Timestamp> parse_time(std::string_view text);

}  // namespace stoa::admin

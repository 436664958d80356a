// The three forms of time on the wire: HTTP dates, ISO 8601 in XML, and the basic ISO form of SigV4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoa::s3 {

std::string http_date(Timestamp time);       // "Sun, 06 Nov 1994 08:49:37 GMT"
std::string iso_date(Timestamp time);        // "2009-10-12T17:50:30.000Z"
std::string amz_date(std::int64_t seconds);  // "20130524T000000Z"

// The three forms of RFC 9110 5.6.7 and, since clients send them, ISO 8601 in UTC. Seconds since 1970.
std::optional<std::int64_t> parse_http_date(std::string_view text);
// "20130524T000000Z" exactly.
std::optional<std::int64_t> parse_amz_date(std::string_view text);

}  // namespace stoa::s3

#include "frontends/s3/auth/clock_skew.h"

#include "frontends/s3/http/date.h"

namespace stoa::s3 {

Outcome<void> check_clock_skew(std::string_view as_sent, std::int64_t seconds, std::int64_t now_seconds) {
  if (seconds <= now_seconds + kClockSkewSecondsMax && seconds >= now_seconds - kClockSkewSecondsMax) return {};
  return std::unexpected<Failure>(
      Failure{.code = Code::kRequestTimeTooSkewed,
              .details = {{"RequestTime", std::string(as_sent)},
                          {"ServerTime", iso_date(Timestamp::from(now_seconds, 0))},
                          {"MaxAllowedSkewMilliseconds", std::to_string(kClockSkewSecondsMax * 1000)}}});
}

}  // namespace stoa::s3

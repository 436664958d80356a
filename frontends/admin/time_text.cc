#include "frontends/admin/time_text.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace stoa::admin {
namespace {

// This many digits, from the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  int number = 0;
  if (text.size() < digits || text.front() < '0') return {};  // no sign
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc{} || end != text.data() + digits) return {};
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string time_text(Timestamp time) {
  const std::time_t seconds = time.seconds();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char stamp[40];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
  std::string text = stamp;
  if (time.nanoseconds() != 0) {
    char fraction[16];
    std::snprintf(fraction, sizeof fraction, ".%09u", time.nanoseconds());
    text += fraction;
  }
  return text + "Z";
}

std::optional<Timestamp> parse_time(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return {};
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return {};
  const auto day = take_number(text, 2);
  if (!day || !take(text, 'T')) return {};
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ':')) return {};
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ':')) return {};
  const auto second = take_number(text, 2);
  std::uint32_t nanoseconds = 0;
  if (take(text, '.')) {
    std::uint32_t unit = 100'000'000;
    if (text.empty() || text.front() == 'Z') return {};
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9' && unit > 0; unit /= 10, text.remove_prefix(1))
      nanoseconds += static_cast<std::uint32_t>(text.front() - '0') * unit;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  // The range of nanoseconds since 1970.
  if (text != "Z" || !second || !date.ok() || *year < 1678 || *year > 2261 || *hour > 23 || *minute > 59 ||
      *second > 59)
    return {};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return Timestamp::from(((std::int64_t{days} * 24 + *hour) * 60 + *minute) * 60 + *second, nanoseconds);
}

}  // namespace stoa::admin

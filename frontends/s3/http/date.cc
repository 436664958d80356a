#include "frontends/s3/http/date.h"

#include <array>
#include <charconv>
#include <chrono>

namespace stoa::s3 {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

struct Civil {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int weekday = 0;
};

Civil civil_from(std::int64_t seconds) {
  const std::chrono::sys_seconds point{std::chrono::seconds{seconds}};
  const auto day = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date{day};
  const auto rest = static_cast<int>((point - day).count());
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day())),
          .hour = rest / 3600,
          .minute = rest / 60 % 60,
          .second = rest % 60,
          .weekday = static_cast<int>(std::chrono::weekday{day}.c_encoding())};
}

std::optional<std::int64_t> seconds_from(const Civil& civil) {
  const std::chrono::year_month_day date{std::chrono::year{civil.year},
                                         std::chrono::month{static_cast<unsigned>(civil.month)},
                                         std::chrono::day{static_cast<unsigned>(civil.day)}};
  if (!date.ok() || civil.year < 1 || civil.hour > 23 || civil.minute > 59 || civil.second > 60) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch().count() * std::int64_t{86400} + civil.hour * 3600 +
         civil.minute * 60 + civil.second;
}

std::string& append_number(std::string& out, int number, std::size_t digits) {
  const std::size_t end = out.size() + digits;
  out.resize(end, '0');
  for (std::size_t i = end; digits-- > 0; number /= 10) out[--i] = static_cast<char>('0' + number % 10);
  return out;
}

std::string& append_day(std::string& out, const Civil& c, std::string_view between) {
  append_number(out, c.year, 4).append(between);
  append_number(out, c.month, 2).append(between);
  return append_number(out, c.day, 2);
}

std::string& append_clock(std::string& out, const Civil& c, std::string_view between) {
  append_number(out, c.hour, 2).append(between);
  append_number(out, c.minute, 2).append(between);
  return append_number(out, c.second, 2);
}

// Takes `count` digits off the front.
bool take_digits(std::string_view& text, std::size_t count, int& value) {
  if (text.size() < count) return false;
  value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool take(std::string_view& text, std::string_view literal) {
  if (!text.starts_with(literal)) return false;
  text.remove_prefix(literal.size());
  return true;
}

bool take_month(std::string_view& text, int& month) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (take(text, kMonths[i])) {
      month = static_cast<int>(i) + 1;
      return true;
    }
  }
  return false;
}

bool take_clock(std::string_view& text, Civil& civil) {
  return take_digits(text, 2, civil.hour) && take(text, ":") && take_digits(text, 2, civil.minute) && take(text, ":") &&
         take_digits(text, 2, civil.second);
}

std::optional<std::int64_t> parse_iso(std::string_view text) {
  Civil civil;
  if (!take_digits(text, 4, civil.year) || !take(text, "-") || !take_digits(text, 2, civil.month) || !take(text, "-") ||
      !take_digits(text, 2, civil.day) || !take(text, "T") || !take_clock(text, civil))
    return std::nullopt;
  if (take(text, ".")) {
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
  }
  if (text != "Z" && text != "+00:00") return std::nullopt;
  return seconds_from(civil);
}

}  // namespace

std::string http_date(Timestamp time) {
  const Civil c = civil_from(time.seconds());
  std::string out;
  out.reserve(32);
  out.append(kDays[static_cast<std::size_t>(c.weekday)]).append(", ");
  append_number(out, c.day, 2).append(" ");
  out.append(kMonths[static_cast<std::size_t>(c.month - 1)]).append(" ");
  append_number(out, c.year, 4).append(" ");
  append_clock(out, c, ":");
  return out.append(" GMT");
}

std::string iso_date(Timestamp time) {
  const Civil c = civil_from(time.seconds());
  std::string out;
  out.reserve(32);
  append_day(out, c, "-").append("T");
  append_clock(out, c, ":").append(".");
  append_number(out, static_cast<int>(time.nanoseconds() / 1'000'000), 3);
  return out.append("Z");
}

std::string amz_date(std::int64_t seconds) {
  const Civil c = civil_from(seconds);
  std::string out;
  out.reserve(16);
  append_day(out, c, "").append("T");
  return append_clock(out, c, "").append("Z");
}

std::optional<std::int64_t> parse_amz_date(std::string_view text) {
  Civil c;
  if (!take_digits(text, 4, c.year) || !take_digits(text, 2, c.month) || !take_digits(text, 2, c.day) ||
      !take(text, "T") || !take_digits(text, 2, c.hour) || !take_digits(text, 2, c.minute) ||
      !take_digits(text, 2, c.second) || text != "Z")
    return std::nullopt;
  return seconds_from(c);
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') return parse_iso(text);
  Civil civil;
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    if (!take(text, " ")) return std::nullopt;
    if (!take_digits(text, 2, civil.day)) return std::nullopt;
    if (take(text, " ")) {  // IMF-fixdate
      if (!take_month(text, civil.month) || !take(text, " ") || !take_digits(text, 4, civil.year)) return std::nullopt;
    } else if (take(text, "-")) {  // RFC 850: two digits of the year, within 50 years of now
      if (!take_month(text, civil.month) || !take(text, "-") || !take_digits(text, 2, civil.year)) return std::nullopt;
      civil.year += civil.year >= 70 ? 1900 : 2000;
    } else {
      return std::nullopt;
    }
    if (!take(text, " ") || !take_clock(text, civil)) return std::nullopt;
    if (text != " GMT" && text != " UTC" && text != " +0000" && text != " -0000") return std::nullopt;
    return seconds_from(civil);
  }
  // asctime: "Sun Nov  6 08:49:37 1994"
  if (text.size() < 4) return std::nullopt;
  text.remove_prefix(3);
  if (!take(text, " ") || !take_month(text, civil.month) || !take(text, " ")) return std::nullopt;
  if (take(text, " ")) {
    if (!take_digits(text, 1, civil.day)) return std::nullopt;
  } else if (!take_digits(text, 2, civil.day)) {
    return std::nullopt;
  }
  if (!take(text, " ") || !take_clock(text, civil) || !take(text, " ") || !take_digits(text, 4, civil.year) ||
      !text.empty())
    return std::nullopt;
  return seconds_from(civil);
}

}  // namespace stoa::s3

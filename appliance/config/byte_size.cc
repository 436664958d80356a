#include "appliance/config/byte_size.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

namespace stoa::appliance {
namespace {

constexpr std::string_view kLetters = "KMGTPE";

std::unexpected<Error> refuse(std::string_view text) {
  return fail(Errc::kInvalid,
              "'" + std::string(text) + "' is not a size; write a number of bytes or one such as 512KiB, 64MiB, 2TB");
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{}) return refuse(text);
  std::string_view unit(end, static_cast<std::size_t>(last - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty() || unit == "B") return number;

  const std::size_t power = kLetters.find(unit.front() == 'k' ? 'K' : unit.front());
  if (power == std::string_view::npos) return refuse(text);
  unit.remove_prefix(1);
  std::uint64_t base = 1024;
  if (unit == "B") {
    base = 1000;
  } else if (!unit.empty() && unit != "iB") {
    return refuse(text);
  }
  for (std::size_t i = 0; i <= power; ++i) {
    if (number > std::numeric_limits<std::uint64_t>::max() / base) return refuse(text);
    number *= base;
  }
  return number;
}

Result<std::uint64_t> parse_bytes_with_unit(std::string_view text, std::string_view example) {
  if (!text.empty() && text.find_first_not_of("0123456789") == text.npos)
    return fail(Errc::kInvalid, "'" + std::string(text) + "' has no unit; write it as " + std::string(example));
  return parse_bytes(text);
}

std::string exact_bytes(std::uint64_t bytes) {
  std::size_t power = 0;
  while (bytes != 0 && bytes % 1024 == 0 && power < kLetters.size()) {
    bytes /= 1024;
    ++power;
  }
  std::string text = std::to_string(bytes);
  if (power > 0) text.append(1, kLetters[power - 1]).append("iB");
  return text;
}

std::string round_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  std::size_t power = 0;
  while (value >= 1000 && power < kLetters.size()) {  // 1000, so that there are never four digits
    value /= 1024;
    ++power;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(),
                value < 10    ? "%.2f %ciB"
                : value < 100 ? "%.1f %ciB"
                              : "%.0f %ciB",
                value, kLetters[power - 1]);
  return text.data();
}

}  // namespace stoa::appliance

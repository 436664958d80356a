#include "frontends/s3/op/location_constraint.h"

#include <algorithm>
#include <string>

namespace stoa::s3 {
namespace {

constexpr std::string_view kFirstRegion = "us-east-1";  // the one without a name in requests

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

// "eu-west-1", "us-gov-east-1": letters, then a number.
bool has_form_of_region(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash < 4) return false;
  const std::string_view number = name.substr(dash + 1);
  const std::string_view words = name.substr(0, dash);
  return number.size() == 1 && is_digit(number.front()) && words[2] == '-' && words.back() != '-' &&
         std::all_of(words.begin(), words.end(), [](char c) { return is_lower(c) || c == '-'; });
}

}  // namespace

Outcome<void> check_location_constraint(std::string_view wanted, std::string_view region) {
  if (wanted == region || (wanted.empty() && region == kFirstRegion)) return {};
  if (wanted.empty()) return refuse(Code::kIllegalLocationConstraint);
  if (wanted == "EU" || has_form_of_region(wanted)) {
    return refuse(
        Code::kIllegalLocationConstraint,
        "The " + std::string(wanted) +
            " location constraint is incompatible for the region specific endpoint this request was sent to.");
  }
  return std::unexpected<Failure>(
      Failure{.code = Code::kInvalidLocationConstraint, .details = {{"LocationConstraint", std::string(wanted)}}});
}

}  // namespace stoa::s3

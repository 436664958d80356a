// Percent-encoding and the parts of a request target. Nothing is normalised: "a//b", ".", ".." are keys like any other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::s3 {

// Decodes %XX (and '+' as space when `plus_is_space`, as in queries). Absent: a '%' without two hex digits.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

// Encodes all but unreserved characters (RFC 3986 2.3), upper-case hex, and '/' unless `keep_slash`: the UriEncode of
// "Create a signed request" in the AWS SigV4 guide.
std::string uri_encode(std::string_view text, bool keep_slash);
void append_uri_encoded(std::string& out, std::string_view text, bool keep_slash);

// encoding-type=url of the list calls: like uri_encode, with '/' kept.
inline std::string list_encode(std::string_view text) {
  return uri_encode(text, true);
}
// Decodes to the same value, encoded no further than necessary: '%', '+' and characters that XML cannot hold.
std::string list_encode_least(std::string_view text);

struct QueryParameter {
  std::string name;
  std::string value;
  bool has_value = false;  // there was a '='
};

struct Target {
  std::string path;  // decoded; begins with '/'
  std::vector<QueryParameter> query;

  const QueryParameter* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::optional<std::string_view> value(std::string_view name) const;
};

inline constexpr std::size_t kQueryParametersMax = 128;

// The path of a request target as sent, without query or authority.
std::string_view raw_path(std::string_view raw_target);

// Origin form ("/path?query") or absolute form ("http://host/path?query"). Absent: malformed, a NUL byte, or more than
// kQueryParametersMax parameters.
std::optional<Target> parse_target(std::string_view raw);

}  // namespace stoa::s3

#include "frontends/s3/auth/mechanism.h"

#include <algorithm>
#include <array>

namespace stoa::s3 {
namespace {

// The first word of an Authorization header.
bool has_scheme(std::string_view header, std::string_view scheme) {
  return header.size() > scheme.size() && header.starts_with(scheme) &&
         (header[scheme.size()] == ' ' || header[scheme.size()] == '\t');
}

// The mechanism's own.
constexpr std::array<std::string_view, 8> kOfVersion4{
    "X-Amz-Algorithm", "X-Amz-Credential",    "X-Amz-Date",           "X-Amz-Expires",
    "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Content-Sha256", "X-Amz-Security-Token"};

}  // namespace

bool is_amz_header(std::string_view name) {
  return name.size() > 6 && equal_names(name.substr(0, 6), "x-amz-");
}

void take_headers_of_query(Request& request) {
  for (const QueryParameter& parameter : request.target.query) {
    const bool own = std::find(kOfVersion4.begin(), kOfVersion4.end(), parameter.name) != kOfVersion4.end();
    if (!own && is_amz_header(parameter.name) && !request.header(parameter.name))
      request.headers.push_back({parameter.name, parameter.value});
  }
}

Outcome<Mechanism> mechanism_of(const Request& request) {
  const auto header = request.header("authorization");
  const Target& target = request.target;
  const bool version4 =
      target.has("X-Amz-Algorithm") || target.has("X-Amz-Credential") || target.has("X-Amz-Signature");
  const bool version2 = target.has("AWSAccessKeyId") || target.has("Signature");
  const std::string_view scheme = header ? header->substr(0, header->find(' ')) : std::string_view{};
  if ((header && (version4 || version2)) || (version4 && version2)) {
    return invalid_argument(
        "Authorization", scheme,
        "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query "
        "string parameter or the Authorization header should be specified");
  }
  if (version4) return Mechanism::kVersion4Query;
  if (version2) return Mechanism::kVersion2Query;
  if (!header) return Mechanism::kNone;
  const std::string_view text = trim(*header);
  if (text.empty()) return refuse(Code::kAccessDenied);
  if (has_scheme(text, "AWS4-HMAC-SHA256")) return Mechanism::kVersion4Header;
  if (has_scheme(text, "AWS")) return Mechanism::kVersion2Header;
  if (text.starts_with("AWS4-ECDSA-P256-SHA256"))
    return refuse(Code::kNotImplemented, "Signature Version 4A is not supported. Please use AWS4-HMAC-SHA256.");
  return invalid_argument("Authorization", scheme, "Unsupported Authorization Type");
}

}  // namespace stoa::s3

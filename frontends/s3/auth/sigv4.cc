#include "frontends/s3/auth/sigv4.h"

#include <algorithm>

#include "frontends/s3/auth/clock_skew.h"
#include "frontends/s3/auth/mechanism.h"
#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::size_t kSignedHeadersMax = 256;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Absent: malformed. An access key may hold '/', so the scope is read from the end.
Outcome<CredentialScope> parse_scope(std::string_view text, Code code) {
  const auto malformed = [&](std::string message) { return refuse(code, std::move(message)); };
  std::string_view parts[4];
  for (int i = 3; i >= 0; --i) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) {
      return malformed(
          "The authorization header is malformed; the Credential is mal-formed; expecting "
          "\"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".");
    }
    parts[i] = text.substr(slash + 1);
    text = text.substr(0, slash);
  }
  if (text.empty())
    return malformed(
        "The authorization header is malformed; a non-empty Access Key (AKID) must be provided in the credential.");
  if (parts[0].size() != 8 || !all_digits(parts[0]))
    return malformed(
        "The authorization header is malformed; incorrect date format. This date in the credential must be in the "
        "format \"yyyyMMdd\".");
  if (parts[1].empty())
    return malformed("The authorization header is malformed; a non-empty region must be provided in the credential.");
  if (parts[2] != "s3")
    return malformed("The authorization header is malformed; incorrect service. This endpoint belongs to \"s3\".");
  if (parts[3] != "aws4_request")
    return malformed("The authorization header is malformed; incorrect terminal. This endpoint uses \"aws4_request\".");
  return CredentialScope{std::string(text), std::string(parts[0]), std::string(parts[1])};
}

// "a;b;c". Absent: empty, too many, or an empty name.
std::optional<std::vector<std::string>> parse_signed_headers(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t end = text.find(';');
    const std::string_view name = text.substr(0, end);
    if (name.empty() || names.size() == kSignedHeadersMax) return std::nullopt;
    names.push_back(lower_case(name));
    if (end == std::string_view::npos) return names;
    text.remove_prefix(end + 1);
  }
}

Outcome<Authorization> parse_header_claim(const Request& request, std::string_view header) {
  const auto malformed = [](std::string message) {
    return refuse(Code::kAuthorizationHeaderMalformed, "The authorization header is malformed; " + std::move(message));
  };
  header.remove_prefix(kAlgorithm.size());  // mechanism_of has seen it

  std::optional<std::string_view> credential, signed_headers, signature;
  while (!(header = trim(header)).empty()) {
    const std::size_t comma = header.find(',');
    const std::string_view field = trim(header.substr(0, comma));
    header = comma == std::string_view::npos ? std::string_view{} : header.substr(comma + 1);
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) return malformed("a field has no value.");
    const std::string_view name = field.substr(0, equals);
    auto* slot = name == "Credential"      ? &credential
                 : name == "SignedHeaders" ? &signed_headers
                 : name == "Signature"     ? &signature
                                           : nullptr;
    if (slot == nullptr || *slot) return malformed("a field is unknown or given twice.");
    *slot = field.substr(equals + 1);
  }
  if (!credential) return malformed("missing Credential.");
  if (!signed_headers) return malformed("missing SignedHeaders.");
  if (!signature || signature->empty()) return malformed("missing Signature.");

  Authorization claim;
  STOA_TRY(scope, parse_scope(*credential, Code::kAuthorizationHeaderMalformed));
  claim.scope = std::move(scope);
  auto names = parse_signed_headers(*signed_headers);
  if (!names) return malformed("SignedHeaders is not a list of names.");
  claim.signed_headers = std::move(*names);
  claim.signature = std::string(*signature);

  if (const auto amz = request.filled("x-amz-date")) {
    const auto seconds = parse_amz_date(*amz);
    if (!seconds) return refuse(Code::kAccessDenied, "AWS authentication requires a valid Date or x-amz-date header");
    claim.date_time = std::string(*amz);
    claim.seconds = *seconds;
  } else {
    const auto date = request.filled("date");
    const auto seconds = date ? parse_http_date(*date) : std::nullopt;
    const auto basic = date && !seconds ? parse_amz_date(*date) : std::nullopt;
    if (!seconds && !basic)
      return refuse(Code::kAccessDenied, "AWS authentication requires a valid Date or x-amz-date header");
    claim.seconds = seconds ? *seconds : *basic;
    claim.date_time = amz_date(claim.seconds);
  }
  return claim;
}

Outcome<Authorization> parse_query_claim(const Request& request) {
  const auto malformed = [](std::string message) {
    return refuse(Code::kAuthorizationQueryParametersError, std::move(message));
  };
  if (request.query("X-Amz-Algorithm") != kAlgorithm)
    return malformed("X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\"");
  const auto credential = request.query("X-Amz-Credential");
  const auto signed_headers = request.query("X-Amz-SignedHeaders");
  const auto signature = request.query("X-Amz-Signature");
  const auto date = request.query("X-Amz-Date");
  const auto expires = request.query("X-Amz-Expires");
  if (!credential || !signed_headers || !signature || !date || !expires) {
    return malformed(
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, "
        "X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.");
  }
  Authorization claim;
  claim.presigned = true;
  STOA_TRY(scope, parse_scope(*credential, Code::kAuthorizationQueryParametersError));
  claim.scope = std::move(scope);
  auto names = parse_signed_headers(*signed_headers);
  if (!names) return malformed("X-Amz-SignedHeaders is not a list of names.");
  claim.signed_headers = std::move(*names);
  claim.signature = std::string(*signature);
  const auto seconds = parse_amz_date(*date);
  if (!seconds) return malformed("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  claim.date_time = std::string(*date);
  claim.seconds = *seconds;
  if (expires->starts_with('-')) return malformed("X-Amz-Expires must be non-negative");
  const auto lifetime = parse_decimal(*expires);
  if (!lifetime) return malformed("X-Amz-Expires should be a number");
  if (*lifetime > kPresignedSecondsMax)
    return malformed(
        "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than "
        "604800 seconds");
  claim.expires_seconds = *lifetime;
  return claim;
}

// Inner runs of spaces become one ("Trimall").
void append_trimmed(std::string& out, std::string_view value) {
  value = trim(value);
  if (value.find("  ") == std::string_view::npos && value.find('\t') == std::string_view::npos) {
    out += value;
    return;
  }
  bool space = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      space = true;
      continue;
    }
    if (space) out.push_back(' ');
    space = false;
    out.push_back(c);
  }
}

void append_canonical_query(std::string& out, const Request& request, bool presigned) {
  std::vector<std::string> pairs;
  pairs.reserve(request.target.query.size());
  for (const QueryParameter& parameter : request.target.query) {
    if (presigned && parameter.name == "X-Amz-Signature") continue;
    pairs.push_back(uri_encode(parameter.name, false) + "=" + uri_encode(parameter.value, false));
  }
  // By name, then by value: '=' must sort before every character of a longer name, against its code.
  std::sort(pairs.begin(), pairs.end(), [](const std::string& a, const std::string& b) {
    const std::size_t a_end = a.find('=');
    const std::size_t b_end = b.find('=');
    const int names = std::string_view(a).substr(0, a_end).compare(std::string_view(b).substr(0, b_end));
    return names != 0 ? names < 0 : std::string_view(a).substr(a_end) < std::string_view(b).substr(b_end);
  });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i != 0) out.push_back('&');
    out += pairs[i];
  }
}

bool is_signed(const Authorization& claim, std::string_view name) {
  return std::any_of(claim.signed_headers.begin(), claim.signed_headers.end(),
                     [&](const std::string& candidate) { return equal_names(candidate, name); });
}

Outcome<void> check_credential_date(const Authorization& claim) {
  if (claim.date_time.compare(0, 8, claim.scope.date) == 0) return {};
  std::string message = claim.presigned ? "" : "The authorization header is malformed; ";
  message.append("Invalid credential date \"").append(claim.scope.date);
  message.append("\". This date is not the same as X-Amz-Date: \"").append(claim.date_time, 0, 8).append("\".");
  return refuse(claim.presigned ? Code::kAuthorizationQueryParametersError : Code::kAuthorizationHeaderMalformed,
                std::move(message));
}

}  // namespace

Outcome<Authorization> parse_authorization(const Request& request, bool presigned) {
  if (presigned) return parse_query_claim(request);
  return parse_header_claim(request, trim(request.header("authorization").value_or("")));
}

Outcome<void> check_time(const Authorization& claim, std::int64_t now_seconds) {
  if (claim.presigned) {
    STOA_CHECK_OK(check_credential_date(claim));
    if (claim.seconds > now_seconds + kClockSkewSecondsMax)
      return refuse(Code::kAccessDenied, "Request is not valid yet");
    if (now_seconds >= claim.seconds + static_cast<std::int64_t>(claim.expires_seconds)) {
      return std::unexpected<Failure>(Failure{
          .code = Code::kAccessDenied,
          .message = "Request has expired",
          .details = {{"X-Amz-Expires", std::to_string(claim.expires_seconds)},
                      {"Expires",
                       iso_date(Timestamp::from(claim.seconds + static_cast<std::int64_t>(claim.expires_seconds), 0))},
                      {"ServerTime", iso_date(Timestamp::from(now_seconds, 0))}}});
    }
    return {};
  }
  STOA_CHECK_OK(check_clock_skew(claim.date_time, claim.seconds, now_seconds));
  return check_credential_date(claim);
}

Outcome<void> check_region(const Authorization& claim, std::string_view region) {
  if (claim.scope.region == region) return {};
  std::string message = claim.presigned ? "Error parsing the X-Amz-Credential parameter; the region '"
                                        : "The authorization header is malformed; the region '";
  message.append(claim.scope.region).append("' is wrong; expecting '").append(region).append("'");
  return std::unexpected<Failure>(
      Failure{.code = claim.presigned ? Code::kAuthorizationQueryParametersError : Code::kAuthorizationHeaderMalformed,
              .message = std::move(message),
              .details = {{"Region", std::string(region)}}});
}

std::string canonical_request(const Request& request, const Authorization& claim, std::string_view payload_hash) {
  std::string out;
  out.reserve(1024);
  out += request.method;
  out += '\n';
  append_uri_encoded(out, request.target.path, true);
  out += '\n';
  append_canonical_query(out, request, claim.presigned);
  out += '\n';
  for (const std::string& name : claim.signed_headers) {
    out += name;
    out += ':';
    bool first = true;
    for (const Header& header : request.headers) {
      if (!equal_names(header.name, name)) continue;
      if (!first) out += ',';
      first = false;
      append_trimmed(out, header.value);
    }
    out += '\n';
  }
  out += '\n';
  for (std::size_t i = 0; i < claim.signed_headers.size(); ++i) {
    if (i != 0) out += ';';
    out += claim.signed_headers[i];
  }
  out += '\n';
  out += payload_hash;
  return out;
}

std::string string_to_sign(const Authorization& claim, std::string_view canonical) {
  std::string out(kAlgorithm);
  out += '\n';
  out += claim.date_time;
  out += '\n';
  out += claim.scope.text();
  out += '\n';
  out += to_hex(sha256(canonical));
  return out;
}

Sha256Value signing_key(std::string_view secret_key, const CredentialScope& scope) {
  const std::string first = "AWS4" + std::string(secret_key);
  const Sha256Value date = hmac_sha256({reinterpret_cast<const std::uint8_t*>(first.data()), first.size()}, scope.date);
  const Sha256Value region = hmac_sha256(date, scope.region);
  const Sha256Value service = hmac_sha256(region, "s3");
  return hmac_sha256(service, "aws4_request");
}

Outcome<void> check_signature(const Request& request, const Authorization& claim, std::string_view payload_hash,
                              const Sha256Value& key) {
  // "host" and every x-amz-* header that is sent must be covered, else a third party could add them.
  std::string missing;
  const auto require = [&](std::string_view name) {
    if (is_signed(claim, name)) return;
    if (!missing.empty()) missing += ", ";
    missing += lower_case(name);
  };
  require("host");
  for (const Header& header : request.headers) {
    if (is_amz_header(header.name)) {
      // A presigned request has the hash in the clear; the signature covers it as the last line of the canonical
      // request.
      if (claim.presigned && equal_names(header.name, "x-amz-content-sha256")) continue;
      require(header.name);
    }
  }
  if (!missing.empty()) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kAccessDenied,
                .message = "There were headers present in the request which were not signed",
                .details = {{"HeadersNotSigned", missing}}});
  }

  const std::string canonical = canonical_request(request, claim, payload_hash);
  const std::string to_sign = string_to_sign(claim, canonical);
  Sha256Value given;
  const auto signs = [&](const std::string& text) { return equal_constant_time(hmac_sha256(key, text), given); };
  if (from_hex(claim.signature, given)) {
    if (signs(to_sign)) return {};
    // The rest of a canonical request is ASCII.
    if (const std::string utf8 = utf8_of_latin1(canonical); utf8.size() != canonical.size()) {
      if (signs(string_to_sign(claim, utf8))) return {};
    }
  }
  return std::unexpected<Failure>(Failure{.code = Code::kSignatureDoesNotMatch,
                                          .details = {{"AWSAccessKeyId", claim.scope.access_key},
                                                      {"StringToSign", to_sign},
                                                      {"SignatureProvided", claim.signature},
                                                      {"CanonicalRequest", canonical}}});
}

}  // namespace stoa::s3

#include "frontends/s3/auth/sigv2.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "frontends/s3/auth/clock_skew.h"
#include "frontends/s3/auth/mechanism.h"
#include "frontends/s3/checksum/digest.h"
#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

// The signed parameters of the query: they choose the operation.
constexpr std::array<std::string_view, 36> kSigned{"accelerate",
                                                   "acl",
                                                   "analytics",
                                                   "cors",
                                                   "delete",
                                                   "inventory",
                                                   "lifecycle",
                                                   "location",
                                                   "logging",
                                                   "metrics",
                                                   "notification",
                                                   "object-lock",
                                                   "partNumber",
                                                   "policy",
                                                   "replication",
                                                   "requestPayment",
                                                   "response-cache-control",
                                                   "response-content-disposition",
                                                   "response-content-encoding",
                                                   "response-content-language",
                                                   "response-content-type",
                                                   "response-expires",
                                                   "restore",
                                                   "select",
                                                   "select-type",
                                                   "storageClass",
                                                   "tagging",
                                                   "torrent",
                                                   "uploadId",
                                                   "uploads",
                                                   "versionId",
                                                   "versioning",
                                                   "versions",
                                                   "website",
                                                   "publicAccessBlock",
                                                   "policyStatus"};

constexpr std::uint64_t kExpiresMax = 253'402'300'799;  // the end of the year 9999

std::unexpected<Failure> no_date() {
  return refuse(Code::kAccessDenied, "AWS authentication requires a valid Date or x-amz-date header");
}

Outcome<AuthorizationV2> parse_query(const Request& request) {
  const auto key = request.query("AWSAccessKeyId");
  const auto signature = request.query("Signature");
  const auto expires = request.query("Expires");
  if (!key || !signature || !expires || key->empty() || signature->empty())
    return refuse(Code::kAccessDenied,
                  "Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters");
  const auto seconds = parse_decimal(*expires);
  if (!seconds || *seconds > kExpiresMax)
    return refuse(Code::kAccessDenied, "Invalid date (should be seconds since epoch): " + std::string(*expires));
  return AuthorizationV2{.presigned = true,
                         .access_key = std::string(*key),
                         .signature = std::string(*signature),
                         .date = std::string(*expires),
                         .seconds = static_cast<std::int64_t>(*seconds)};
}

Outcome<AuthorizationV2> parse_header(const Request& request) {
  const std::string_view header = trim(request.header("authorization").value_or(""));
  const std::string_view pair = trim(header.substr(header.find_first_of(" \t")));
  const std::size_t colon = pair.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == pair.size())
    return invalid_argument("Authorization", header,
                            "AWS authorization header is invalid. Expected AwsAccessKeyId:signature");
  AuthorizationV2 claim{.access_key = std::string(pair.substr(0, colon)),
                        .signature = std::string(pair.substr(colon + 1))};
  const auto amz = request.header("x-amz-date");
  const auto text = amz ? amz : request.header("date");
  if (!text) return no_date();
  const auto http = parse_http_date(trim(*text));
  const auto seconds = http ? http : parse_amz_date(trim(*text));
  if (!seconds || *seconds < 0) return no_date();
  claim.seconds = *seconds;
  if (!amz) claim.date = std::string(*text);
  return claim;
}

void append_amz_headers(std::string& out, const Request& request) {
  std::map<std::string, std::string> values;
  for (const Header& header : request.headers) {
    if (!is_amz_header(header.name)) continue;
    const auto [known, fresh] = values.try_emplace(lower_case(header.name), trim(header.value));
    if (!fresh) known->second.append(",").append(trim(header.value));
  }
  for (const auto& [name, value] : values) out.append(name).append(":").append(value).append("\n");
}

void append_parameters(std::string& out, const Request& request) {
  std::vector<const QueryParameter*> signed_parameters;
  for (const QueryParameter& parameter : request.target.query) {
    if (std::find(kSigned.begin(), kSigned.end(), parameter.name) != kSigned.end())
      signed_parameters.push_back(&parameter);
  }
  // Headers of the same name, in the order of the request, which is their order in memory.
  std::ranges::sort(signed_parameters, {}, [](const QueryParameter* parameter) {
    return std::pair(std::string_view(parameter->name), parameter);
  });
  char separator = '?';
  for (const QueryParameter* parameter : signed_parameters) {
    out += std::exchange(separator, '&');
    out += parameter->name;
    if (parameter->has_value) out.append("=").append(parameter->value);
  }
}

// The signed forms of the path. First the form of S3 itself: a bucket is "/bucket/", even if it is sent as "/bucket".
// Version 1.28 to 1.29 of botocore (that of Debian 12) signs the path as sent, with the parameter that selects the
// operation: "/bucket?list-type=2", "/bucket/key?uploads". It then adds "?uploads" again, like all clients.
std::vector<std::string> spellings_of_path(const Request& request, std::string_view host_bucket) {
  std::string path = host_bucket.empty() ? std::string() : "/" + std::string(host_bucket);
  path += raw_path(request.raw_target);
  std::vector<std::string> paths;
  const std::size_t end = path.find('/', 1);
  if (path.size() > 1 && end >= path.size() - 1) {
    path.resize(std::min(end, path.size()));
    paths.push_back(path + "/");
  }
  paths.push_back(path);
  // Only a name, or a known value: no signature of another request must fit.
  if (const auto& query = request.target.query; !query.empty() && !query.front().has_value) {
    paths.push_back(path + "?" + query.front().name);
  } else if (!query.empty() && query.front().name == "list-type" && query.front().value == "2") {
    paths.push_back(path + "?list-type=2");
  }
  return paths;
}

}  // namespace

Outcome<AuthorizationV2> parse_authorization_v2(const Request& request, bool presigned) {
  return presigned ? parse_query(request) : parse_header(request);
}

Outcome<void> check_time(const AuthorizationV2& claim, std::int64_t now_seconds) {
  if (!claim.presigned) return check_clock_skew(claim.date, claim.seconds, now_seconds);
  if (now_seconds < claim.seconds) return {};
  return std::unexpected<Failure>(Failure{.code = Code::kAccessDenied,
                                          .message = "Request has expired",
                                          .details = {{"Expires", iso_date(Timestamp::from(claim.seconds, 0))},
                                                      {"ServerTime", iso_date(Timestamp::from(now_seconds, 0))}}});
}

std::string string_to_sign(const Request& request, const AuthorizationV2& claim, std::string_view path) {
  std::string out = request.method;
  out.append("\n").append(request.header("content-md5").value_or(""));
  out.append("\n").append(request.header("content-type").value_or(""));
  out.append("\n").append(claim.date).append("\n");
  append_amz_headers(out, request);
  out += path;
  append_parameters(out, request);
  return out;
}

Outcome<void> check_signature(const Request& request, const AuthorizationV2& claim, std::string_view host_bucket,
                              std::string_view secret_key) {
  const std::vector<std::string> paths = spellings_of_path(request, host_bucket);
  if (const auto given = from_base64(claim.signature)) {
    const auto equals = [&](std::string_view text) {
      const Sha1Value value =
          hmac_sha1({reinterpret_cast<const std::uint8_t*>(secret_key.data()), secret_key.size()}, text);
      return equal_constant_time(value, {reinterpret_cast<const std::uint8_t*>(given->data()), given->size()});
    };
    for (const std::string& path : paths) {
      const std::string text = string_to_sign(request, claim, path);
      if (equals(text) || equals(utf8_of_latin1(text))) return {};
    }
  }
  return std::unexpected<Failure>(Failure{.code = Code::kSignatureDoesNotMatch,
                                          .details = {{"AWSAccessKeyId", claim.access_key},
                                                      {"StringToSign", string_to_sign(request, claim, paths.front())},
                                                      {"SignatureProvided", claim.signature}}});
}

}  // namespace stoa::s3

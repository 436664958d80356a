#include "frontends/s3/op/objects.h"

#include <algorithm>
#include <array>

#include "frontends/s3/http/conditions.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kUserPrefix = "x-amz-meta-";

// Features whose headers must not be accepted and dropped. A trailing '-' matches a prefix.
constexpr std::array<std::string_view, 9> kUnsupported{"x-amz-server-side-encryption",
                                                       "x-amz-server-side-encryption-",
                                                       "x-amz-tagging",
                                                       "x-amz-website-redirect-location",
                                                       "x-amz-object-lock-",
                                                       "x-amz-grant-",
                                                       "x-amz-copy-source-server-side-encryption-",
                                                       "x-amz-write-offset-bytes",
                                                       "x-amz-object-ownership"};

bool is_unsupported(std::string_view name) {
  for (const std::string_view candidate : kUnsupported) {
    if (candidate.ends_with('-')
            ? name.size() > candidate.size() && equal_names(name.substr(0, candidate.size()), candidate)
            : equal_names(name, candidate))
      return true;
  }
  return false;
}

// "aws-chunked" is a matter of the transfer and not kept.
std::string stored_encoding(std::string_view header) {
  std::string out;
  while (!header.empty()) {
    const std::size_t comma = header.find(',');
    std::string_view coding = header.substr(0, comma);
    header = comma == std::string_view::npos ? std::string_view{} : header.substr(comma + 1);
    while (coding.starts_with(' ')) coding.remove_prefix(1);
    while (coding.ends_with(' ')) coding.remove_suffix(1);
    if (coding.empty() || equal_names(coding, "aws-chunked")) continue;
    if (!out.empty()) out += ", ";
    out += coding;
  }
  return out;
}

}  // namespace

std::string quoted(std::string_view etag) {
  return "\"" + std::string(etag) + "\"";
}

Outcome<FoundObject> find_object(const Call& call, core::FileId root, std::string_view key) {
  auto reply = call.ns().lookup_key(call.fresh_ctx(), {.root = root, .key = key});
  if (!reply) {
    auto refused = refuse(reply.error());
    if (refused.error().code == Code::kNoSuchKey) refused.error().details = {{"Key", std::string(key)}};
    return refused;
  }
  if (reply->attr.type != core::FileType::kRegular) {
    return std::unexpected<Failure>(Failure{.code = Code::kNoSuchKey, .details = {{"Key", std::string(key)}}});
  }
  FoundObject found{.attr = reply->attr, .record = current_record(reply->attr, reply->meta)};
  found.etag = etag_of(found.attr, found.record);
  return found;
}

Outcome<void> check_version_id(std::optional<std::string_view> version) {
  if (!version || *version == "null") return {};
  if (version->empty()) return invalid_argument("versionId", "", "Version id cannot be the empty string");
  // Ids made by S3 look like this; anything else never was an id.
  const bool formed =
      version->size() == 32 && std::all_of(version->begin(), version->end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
      });
  if (!formed) return invalid_argument("versionId", *version, "Invalid version id specified");
  return std::unexpected<Failure>(
      Failure{.code = Code::kNoSuchVersion, .details = {{"VersionId", std::string(*version)}}});
}

Outcome<void> check_version_id(const Request& request) {
  return check_version_id(request.query("versionId"));
}

Outcome<void> check_canned_acl(const Request& request) {
  const auto acl = request.filled("x-amz-acl");
  if (!acl || *acl == "private" || *acl == "bucket-owner-full-control") return {};
  constexpr std::array<std::string_view, 6> kGranting{"public-read",       "public-read-write", "authenticated-read",
                                                      "bucket-owner-read", "aws-exec-read",     "log-delivery-write"};
  if (std::find(kGranting.begin(), kGranting.end(), *acl) == kGranting.end())
    return invalid_argument("x-amz-acl", *acl, "");
  return std::unexpected<Failure>(
      Failure{.code = Code::kNotImplemented, .details = {{"Header", "x-amz-acl"}, {"Value", std::string(*acl)}}});
}

Outcome<void> refuse_unsupported_headers(const Request& request) {
  for (const Header& header : request.headers) {
    if (is_unsupported(header.name)) {
      return std::unexpected<Failure>(
          Failure{.code = Code::kNotImplemented, .details = {{"Header", lower_case(header.name)}}});
    }
  }
  STOA_CHECK_OK(check_canned_acl(request));
  const auto storage_class = request.filled("x-amz-storage-class");
  if (storage_class && *storage_class != "STANDARD") {
    return std::unexpected<Failure>(Failure{.code = Code::kInvalidStorageClass,
                                            .details = {{"StorageClassRequested", std::string(*storage_class)}}});
  }
  return {};
}

Outcome<ObjectRecord> read_object_headers(const Call& call) {
  STOA_CHECK_OK(refuse_unsupported_headers(call.request));
  ObjectRecord record;
  const auto text = [&](std::string_view name) { return std::string(call.request.header(name).value_or("")); };
  record.content_type = text("content-type");
  record.content_encoding = stored_encoding(text("content-encoding"));
  record.content_disposition = text("content-disposition");
  record.content_language = text("content-language");
  record.cache_control = text("cache-control");
  record.expires = text("expires");

  std::size_t bytes = 0;
  for (const Header& header : call.request.headers) {
    if (header.name.size() <= kUserPrefix.size() ||
        !equal_names(header.name.substr(0, kUserPrefix.size()), kUserPrefix))
      continue;
    std::string name = lower_case(header.name.substr(kUserPrefix.size()));
    bytes += name.size() + header.value.size();
    bool merged = false;
    for (auto& [known, value] : record.user) {
      if (known != name) continue;
      value.append(",").append(header.value);  // a repeated header is a list (RFC 9110 5.3)
      merged = true;
    }
    if (!merged) record.user.emplace_back(std::move(name), std::string(header.value));
  }
  const std::size_t limit = call.services.options.limits.metadata_bytes_max;
  if (bytes > limit) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kMetadataTooLarge,
                .details = {{"Size", std::to_string(bytes)}, {"MaxSizeAllowed", std::to_string(limit)}}});
  }
  return record;
}

void add_object_headers(Response& response, const std::optional<ObjectRecord>& record) {
  static const ObjectRecord kNone;
  const ObjectRecord& from = record ? *record : kNone;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) response.add(name, value);
  };
  response.add("Content-Type", from.content_type.empty() ? "binary/octet-stream" : from.content_type);
  add("Content-Encoding", from.content_encoding);
  add("Content-Disposition", from.content_disposition);
  add("Content-Language", from.content_language);
  add("Cache-Control", from.cache_control);
  add("Expires", from.expires);
  for (const auto& [name, value] : from.user) response.add(std::string(kUserPrefix) + name, value);
}

void add_checksum_headers(Response& response, const Checksum& checksum) {
  response.add(std::string(header_of(checksum.algorithm)), checksum.text());
  response.add("x-amz-checksum-type", std::string(name_of(checksum.type)));
}

Outcome<std::optional<core::ObjectExpectation>> expect_for_write(const Call& call, std::string_view key) {
  const auto if_match = call.request.filled("if-match");
  const auto if_none_match = call.request.filled("if-none-match");
  if (!if_match && !if_none_match) return std::nullopt;
  if (if_none_match && *if_none_match == "*" && !if_match) return core::ObjectExpectation{.must_not_exist = true};

  auto found = find_object(call, call.root(), key);
  if (!found) {
    if (found.error().code != Code::kNoSuchKey || if_match) return std::unexpected<Failure>(std::move(found.error()));
    return core::ObjectExpectation{.must_not_exist = true};
  }
  if ((if_match && !matches_etag(*if_match, found->etag)) ||
      (if_none_match && matches_etag(*if_none_match, found->etag))) {
    return std::unexpected<Failure>(Failure{.code = Code::kPreconditionFailed,
                                            .details = {{"Condition", if_match ? "If-Match" : "If-None-Match"}}});
  }
  return core::ObjectExpectation{.version = found->attr.version()};
}

}  // namespace stoa::s3

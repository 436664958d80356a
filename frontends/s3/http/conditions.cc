#include "frontends/s3/http/conditions.h"

#include "frontends/s3/http/date.h"

namespace stoa::s3 {
namespace {

std::optional<std::int64_t> date(const Request& request, const std::string& name) {
  const auto header = request.filled(name);
  return header ? parse_http_date(trim(*header)) : std::nullopt;
}

std::unexpected<Failure> failed(std::string_view condition) {
  return std::unexpected<Failure>(
      Failure{.code = Code::kPreconditionFailed, .details = {{"Condition", std::string(condition)}}});
}

}  // namespace

Conditions read_conditions(const Request& request, std::string_view prefix) {
  const std::string start(prefix);
  return {.if_match = request.filled(start + "if-match"),
          .if_none_match = request.filled(start + "if-none-match"),
          .if_modified_since = date(request, start + "if-modified-since"),
          .if_unmodified_since = date(request, start + "if-unmodified-since")};
}

bool matches_etag(std::string_view list, std::string_view etag) {
  list = trim(list);
  if (list == "*") return true;
  while (!list.empty()) {
    if (list.starts_with("W/")) list.remove_prefix(2);
    std::string_view tag;
    if (list.starts_with('"')) {
      const std::size_t end = list.find('"', 1);
      if (end == std::string_view::npos) return false;
      tag = list.substr(1, end - 1);
      list.remove_prefix(end + 1);
    } else {
      const std::size_t end = list.find(',');
      tag = trim(list.substr(0, end));
      list = end == std::string_view::npos ? std::string_view{} : list.substr(end);
    }
    if (tag == etag) return true;
    list = trim(list);
    if (list.starts_with(',')) list = trim(list.substr(1));
  }
  return false;
}

Outcome<void> check_read(const Conditions& conditions, std::string_view etag, Timestamp modified) {
  const auto not_modified = [&] {
    return std::unexpected<Failure>(
        Failure{.code = Code::kNotModified,
                .headers = {{"ETag", "\"" + std::string(etag) + "\""}, {"Last-Modified", http_date(modified)}}});
  };
  if (conditions.if_match) {
    if (!matches_etag(*conditions.if_match, etag)) return failed("If-Match");
  } else if (conditions.if_unmodified_since && modified.seconds() > *conditions.if_unmodified_since) {
    return failed("If-Unmodified-Since");
  }
  if (conditions.if_none_match) {
    if (matches_etag(*conditions.if_none_match, etag)) return not_modified();
  } else if (conditions.if_modified_since && modified.seconds() <= *conditions.if_modified_since) {
    return not_modified();
  }
  return {};
}

Outcome<void> check_copy_source(const Conditions& conditions, std::string_view etag, Timestamp modified) {
  if (conditions.if_match) {
    if (!matches_etag(*conditions.if_match, etag)) return failed("x-amz-copy-source-If-Match");
  } else if (conditions.if_unmodified_since && modified.seconds() > *conditions.if_unmodified_since) {
    return failed("x-amz-copy-source-If-Unmodified-Since");
  }
  if (conditions.if_none_match) {
    if (matches_etag(*conditions.if_none_match, etag)) return failed("x-amz-copy-source-If-None-Match");
  } else if (conditions.if_modified_since && modified.seconds() <= *conditions.if_modified_since) {
    return failed("x-amz-copy-source-If-Modified-Since");
  }
  return {};
}

}  // namespace stoa::s3

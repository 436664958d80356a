#include "frontends/s3/op/removal.h"

#include "frontends/s3/http/conditions.h"
#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

const char* failed_condition(const RemovalConditions& conditions, const FoundObject& found) {
  if (conditions.etag && !matches_etag(*conditions.etag, found.etag)) return "If-Match";
  if (conditions.size && *conditions.size != found.attr.size) return "x-amz-if-match-size";
  if (conditions.modified && *conditions.modified != found.attr.mtime.seconds())
    return "x-amz-if-match-last-modified-time";
  return nullptr;
}

}  // namespace

Outcome<RemovalConditions> read_removal_conditions(std::optional<std::string_view> etag, std::string_view size_name,
                                                   std::optional<std::string_view> size, std::string_view modified_name,
                                                   std::optional<std::string_view> modified) {
  RemovalConditions conditions{.etag = etag};
  if (size) {
    conditions.size = parse_decimal(*size);
    if (!conditions.size) return invalid_argument(size_name, *size, "The size is not a number.");
  }
  if (modified) {
    conditions.modified = parse_http_date(*modified);
    if (!conditions.modified) return invalid_argument(modified_name, *modified, "The time cannot be read.");
  }
  return conditions;
}

Outcome<void> remove_object(const Call& call, std::string_view key, const RemovalConditions& conditions) {
  for (int attempt = 0; attempt < kConditionalAttemptsMax; ++attempt) {
    std::optional<core::ObjectExpectation> expect;
    if (conditions.any()) {
      auto found = find_object(call, call.root(), key);
      if (!found && found.error().code == Code::kNoSuchKey) return {};
      if (!found) return std::unexpected<Failure>(std::move(found.error()));
      if (const char* failed = failed_condition(conditions, *found)) {
        return std::unexpected<Failure>(Failure{.code = Code::kPreconditionFailed, .details = {{"Condition", failed}}});
      }
      expect = core::ObjectExpectation{.version = found->attr.version()};
    }
    const auto removed = call.ns().remove_key(call.fresh_ctx(), {.root = call.root(), .key = key, .expect = expect});
    if (removed) return {};
    if (removed.error().code == Errc::kPreconditionFailed && expect) continue;  // changed since: look again
    auto refused = refuse(removed.error());
    if (refused.error().code == Code::kNoSuchKey) return {};
    return refused;
  }
  return refuse(Code::kConditionalRequestConflict);
}

}  // namespace stoa::s3

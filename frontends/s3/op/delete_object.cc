#include "frontends/s3/http/conditions.h"
#include "frontends/s3/op/objects.h"

namespace stoa::s3 {

Outcome<Response> delete_object(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  for (const char* unsupported : {"x-amz-if-match-size", "x-amz-if-match-last-modified-time"}) {
    if (call.request.header(unsupported)) {
      return std::unexpected<Failure>(Failure{.code = Code::kNotImplemented, .details = {{"Header", unsupported}}});
    }
  }
  const auto if_match = call.request.filled("if-match");
  for (int attempt = 0; attempt < kConditionalAttemptsMax; ++attempt) {
    std::optional<core::ObjectExpectation> expect;
    if (if_match) {
      auto found = find_object(call, call.root(), call.route.key);
      // Deleting what is not there succeeds, with a condition as without.
      if (!found && found.error().code == Code::kNoSuchKey) return Response{.status = 204};
      if (!found) return std::unexpected<Failure>(std::move(found.error()));
      if (!matches_etag(*if_match, found->etag)) {
        return std::unexpected<Failure>(
            Failure{.code = Code::kPreconditionFailed, .details = {{"Condition", "If-Match"}}});
      }
      expect = core::ObjectExpectation{.version = found->attr.version()};
    }
    auto removed = call.ns().remove_key(call.ctx, {.root = call.root(), .key = call.route.key, .expect = expect});
    if (removed) return Response{.status = 204};
    if (removed.error().code == Errc::kPreconditionFailed && expect) continue;
    auto refused = refuse(removed.error());
    if (refused.error().code == Code::kNoSuchKey) return Response{.status = 204};
    return refused;
  }
  return refuse(Code::kConditionalRequestConflict);
}

}  // namespace stoa::s3

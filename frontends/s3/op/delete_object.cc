#include "frontends/s3/op/removal.h"

namespace stoa::s3 {

Outcome<Response> delete_object(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  const Request& request = call.request;
  constexpr std::string_view kSize = "x-amz-if-match-size";
  constexpr std::string_view kModified = "x-amz-if-match-last-modified-time";
  STOA_TRY(conditions, read_removal_conditions(request.filled("if-match"), kSize, request.filled(kSize), kModified,
                                               request.filled(kModified)));
  STOA_CHECK_OK(remove_object(call, call.route.key, conditions));
  return Response{.status = 204};
}

}  // namespace stoa::s3

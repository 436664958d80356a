#include "frontends/s3/op/call.h"

namespace stoa::s3 {

Outcome<Response> head_bucket(Call& call) {
  constexpr std::uint32_t kWanted = core::kAccessRead | core::kAccessLookup;
  auto access = call.ns().access(call.fresh_ctx(), {.id = call.root(), .wanted = kWanted});
  if (!access) return refuse(access.error(), Missing::kBucket);
  if (access->granted != kWanted) return refuse(Code::kAccessDenied);
  Response response;
  response.add("x-amz-bucket-region", call.services.options.region);
  response.add("Content-Type", "application/xml");
  return response;
}

}  // namespace stoa::s3

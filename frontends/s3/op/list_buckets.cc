#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"
#include "frontends/s3/op/admission.h"
#include "frontends/s3/op/call.h"
#include "frontends/s3/op/owner.h"
#include "frontends/s3/op/paging.h"

namespace stoa::s3 {
namespace {

constexpr std::uint64_t kBucketsMax = 10'000;

// The caller's own buckets, and exports without an owner that the caller may read; none that its address may not
// reach.
bool is_listed(const Call& call, const core::Export& candidate) {
  if (!candidate.s3 || admission(candidate, call.request) == Admission::kRefused) return false;
  if (!candidate.owner.empty()) return candidate.owner == call.user->name;
  const auto access = call.ns().access(call.fresh_ctx(), {.id = candidate.root, .wanted = core::kAccessRead});
  return access && access->granted == core::kAccessRead;
}

}  // namespace

Outcome<Response> list_buckets(Call& call) {
  std::uint64_t limit = kBucketsMax;
  if (const auto asked = call.request.query("max-buckets")) {
    const auto value = parse_decimal(*asked);
    if (!value || *value == 0 || *value > kBucketsMax)
      return invalid_argument("max-buckets", *asked, "max-buckets must be between 1 and 10000");
    limit = *value;
  }
  const std::string prefix(call.request.query("prefix").value_or(""));
  std::string after;
  if (const auto token = call.request.query("continuation-token"); token && !token->empty()) {
    STOA_TRY(last, read_continuation_token(*token));
    after = std::move(last);
  }
  // All buckets are in the one region.
  const std::string& region = call.services.options.region;
  const auto wanted_region = call.request.query("bucket-region");
  if (wanted_region && !wanted_region->empty() && *wanted_region != region)
    return invalid_argument("bucket-region", *wanted_region, "Buckets of another region cannot be listed here.");

  XmlWriter xml("ListAllMyBucketsResult");
  write_owner(xml, "Owner", call.user->name);
  xml.open("Buckets");
  std::uint64_t count = 0;
  std::string last;
  bool truncated = false;
  for (const core::Export& bucket : call.registry->exports()) {
    if (!bucket.name.starts_with(prefix) || bucket.name <= after || !is_listed(call, bucket)) continue;
    if (count == limit) {
      truncated = true;
      break;
    }
    xml.open("Bucket").element("Name", bucket.name).element("CreationDate", iso_date(bucket.created));
    xml.element("BucketRegion", region).close("Bucket");
    last = bucket.name;
    ++count;
  }
  xml.close("Buckets");
  if (truncated) xml.element("ContinuationToken", make_continuation_token(last));
  if (!prefix.empty()) xml.element("Prefix", prefix);
  return xml_response(xml.finish());
}

}  // namespace stoa::s3

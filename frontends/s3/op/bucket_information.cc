// Read-only sub-resources of a bucket.
#include <array>

#include "frontends/s3/op/call.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

// The answer of a bucket without the configuration: an error of its own, or an empty document.
struct Absent {
  std::string_view query;
  Code code;
  std::string_view document;  // when not empty, sent instead of the error
};
constexpr std::array<Absent, 20> kAbsent{{
    {"accelerate", Code::kNoSuchConfiguration, "AccelerateConfiguration"},
    {"analytics", Code::kNoSuchConfiguration, ""},
    {"cors", Code::kNoSuchCorsConfiguration, ""},
    {"encryption", Code::kServerSideEncryptionConfigurationNotFound, ""},
    {"intelligent-tiering", Code::kNoSuchConfiguration, ""},
    {"inventory", Code::kNoSuchConfiguration, ""},
    {"lifecycle", Code::kNoSuchLifecycleConfiguration, ""},
    {"logging", Code::kNoSuchConfiguration, "BucketLoggingStatus"},
    {"metrics", Code::kNoSuchConfiguration, ""},
    {"notification", Code::kNoSuchConfiguration, "NotificationConfiguration"},
    {"object-lock", Code::kObjectLockConfigurationNotFound, ""},
    {"ownershipControls", Code::kOwnershipControlsNotFound, ""},
    {"policy", Code::kNoSuchBucketPolicy, ""},
    {"policyStatus", Code::kNoSuchBucketPolicy, ""},
    {"publicAccessBlock", Code::kNoSuchPublicAccessBlockConfiguration, ""},
    {"replication", Code::kReplicationConfigurationNotFound, ""},
    {"requestPayment", Code::kNoSuchConfiguration, "RequestPaymentConfiguration"},
    {"tagging", Code::kNoSuchTagSet, ""},
    {"versioning", Code::kNoSuchConfiguration, "VersioningConfiguration"},
    {"website", Code::kNoSuchWebsiteConfiguration, ""},
}};

Outcome<void> require_read(const Call& call) {
  auto access = call.ns().access(call.fresh_ctx(), {.id = call.root(), .wanted = core::kAccessRead});
  if (!access) return refuse(access.error(), Missing::kBucket);
  if (access->granted != core::kAccessRead) return refuse(Code::kAccessDenied);
  return {};
}

}  // namespace

Outcome<Response> get_bucket_location(Call& call) {
  STOA_CHECK_OK(require_read(call));
  XmlWriter xml("LocationConstraint");
  // The first region is the one without a name.
  if (const std::string& region = call.services.options.region; region != "us-east-1") {
    std::string text;
    append_xml_text(text, region);
    xml.raw(text);
  }
  return xml_response(xml.finish());
}

Outcome<Response> get_bucket_configuration(Call& call) {
  STOA_CHECK_OK(require_read(call));
  for (const Absent& absent : kAbsent) {
    if (!call.request.target.has(absent.query)) continue;
    if (absent.document.empty()) {
      return std::unexpected<Failure>(Failure{.code = absent.code, .details = {{"BucketName", call.bucket->name}}});
    }
    XmlWriter xml(absent.document);
    if (absent.query == "requestPayment") xml.element("Payer", "BucketOwner");
    return xml_response(xml.finish());
  }
  return refuse(Code::kNotImplemented);
}

}  // namespace stoa::s3

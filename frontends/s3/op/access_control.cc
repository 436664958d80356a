// GetBucketAcl, GetObjectAcl, and the two that would set them. The latter succeed only for the present ACL, because
// clients ask for "private" by habit, and change nothing.
#include <algorithm>
#include <array>

#include "frontends/s3/op/acl.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/owner.h"
#include "frontends/s3/xml/reader.h"

namespace stoa::s3 {
namespace {

struct Present {
  std::string owner;
  std::vector<Grant> grants;
};

Outcome<Present> of_bucket(const Call& call) {
  auto reply = call.ns().getattr(call.fresh_ctx(), {.id = call.root()});
  if (!reply) return refuse(reply.error(), Missing::kBucket);
  if (!call.owns_bucket() && reply->attr.uid != call.user->uid) return refuse(Code::kAccessDenied);
  Present present{.owner =
                      call.bucket->owner.empty() ? owner_name(*call.registry, reply->attr.uid) : call.bucket->owner};
  present.grants = grants_of(present.owner, reply->attr.mode);
  return present;
}

Outcome<Present> of_object(const Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  STOA_TRY(found, find_object(call, call.root(), call.route.key));
  if (!call.owns_bucket() && found.attr.uid != call.user->uid) return refuse(Code::kAccessDenied);
  auto bucket = call.ns().getattr(call.own_ctx(), {.id = call.root()});
  if (!bucket) return refuse(bucket.error(), Missing::kBucket);
  // Other users cannot reach objects in a bucket that they may not search.
  const bool reachable = (bucket->attr.mode & 0001) != 0;
  Present present{.owner = owner_name(*call.registry, found.attr.uid)};
  present.grants = grants_of(present.owner, reachable ? found.attr.mode : 0);
  return present;
}

Outcome<std::vector<Grant>> read_grants(const XmlNode& list) {
  constexpr std::array<std::string_view, 5> kPermissions{"FULL_CONTROL", "READ", "WRITE", "READ_ACP", "WRITE_ACP"};
  std::vector<Grant> grants;
  for (const XmlNode& child : list.children) {
    const XmlNode* grantee = child.child("Grantee");
    const auto permission = child.value("Permission");
    if (child.name != "Grant" || grantee == nullptr || !permission) return refuse(Code::kMalformedXml);
    if (std::find(kPermissions.begin(), kPermissions.end(), *permission) == kPermissions.end())
      return refuse(Code::kMalformedXml);
    const auto id = grantee->value("ID");
    const auto uri = grantee->value("URI");
    if (!id && !uri) return refuse(Code::kNotImplemented, "Grantees by e-mail address are not implemented.");
    grants.push_back({std::string(id ? *id : *uri), !id, std::string(*permission)});
  }
  return grants;
}

// The requested ACL: a canned one, or the document in the body.
Outcome<std::vector<Grant>> read_wanted(const Call& call, const Present& present) {
  STOA_CHECK_OK(refuse_unsupported_headers(call.request));
  if (call.request.filled("x-amz-acl")) return grants_of(present.owner, 0);
  if (call.body.empty()) return refuse(Code::kMissingSecurityHeader);
  const auto document = parse_xml(call.body);
  if (!document || document->name != "AccessControlPolicy") return refuse(Code::kMalformedXml);
  const XmlNode* owner = document->child("Owner");
  const XmlNode* list = document->child("AccessControlList");
  if (owner == nullptr || list == nullptr) return refuse(Code::kMalformedXml);
  if (owner->value("ID") != present.owner) return refuse(Code::kAccessDenied);
  return read_grants(*list);
}

Outcome<Response> accept_if_present(const Call& call, Present present) {
  STOA_TRY(wanted, read_wanted(call, present));
  std::sort(wanted.begin(), wanted.end());
  std::sort(present.grants.begin(), present.grants.end());
  if (wanted == present.grants) return Response{};
  return std::unexpected<Failure>(Failure{.code = Code::kNotImplemented, .details = {{"Query", "acl"}}});
}

}  // namespace

Outcome<Response> get_bucket_acl(Call& call) {
  STOA_TRY(present, of_bucket(call));
  return xml_response(acl_document(present.owner, present.grants));
}

Outcome<Response> get_object_acl(Call& call) {
  STOA_TRY(present, of_object(call));
  return xml_response(acl_document(present.owner, present.grants));
}

Outcome<Response> put_bucket_acl(Call& call) {
  STOA_TRY(present, of_bucket(call));
  return accept_if_present(call, std::move(present));
}

Outcome<Response> put_object_acl(Call& call) {
  STOA_TRY(present, of_object(call));
  return accept_if_present(call, std::move(present));
}

}  // namespace stoa::s3

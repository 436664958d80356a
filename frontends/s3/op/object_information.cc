// Sub-resources of an object that only tell what is the case.
#include "frontends/s3/op/acl.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/owner.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {

Outcome<Response> get_object_acl(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  STOA_TRY(found, find_object(call, call.root(), call.route.key));
  if (!call.owns_bucket() && found.attr.uid != call.user->uid) return refuse(Code::kAccessDenied);
  return xml_response(acl_document(owner_name(*call.registry, found.attr.uid), found.attr.mode));
}

Outcome<Response> get_object_tagging(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  STOA_TRY(found, find_object(call, call.root(), call.route.key));
  (void)found;  // No object has tags: they cannot be set.
  XmlWriter xml("Tagging");
  xml.open("TagSet").close("TagSet");
  return xml_response(xml.finish());
}

}  // namespace stoa::s3

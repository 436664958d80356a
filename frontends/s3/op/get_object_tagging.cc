#include "frontends/s3/op/objects.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {

Outcome<Response> get_object_tagging(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  STOA_TRY(found, find_object(call, call.root(), call.route.key));
  (void)found;  // No object has tags: they cannot be set.
  XmlWriter xml("Tagging");
  xml.open("TagSet").close("TagSet");
  return xml_response(xml.finish());
}

}  // namespace stoa::s3

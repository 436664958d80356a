#include "frontends/s3/op/acl.h"

#include "frontends/s3/op/owner.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kInstance = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

void write_group_grant(XmlWriter& xml, std::string_view permission) {
  xml.open("Grant");
  xml.raw("<Grantee ").raw(kInstance).raw(" xsi:type=\"Group\">");
  xml.element("URI", "http://acs.amazonaws.com/groups/global/AuthenticatedUsers");
  xml.raw("</Grantee>").element("Permission", permission).close("Grant");
}

}  // namespace

std::string acl_document(std::string_view owner, std::uint32_t mode) {
  XmlWriter xml("AccessControlPolicy");
  write_owner(xml, "Owner", owner);
  xml.open("AccessControlList").open("Grant");
  xml.raw("<Grantee ").raw(kInstance).raw(" xsi:type=\"CanonicalUser\">");
  xml.element("ID", owner).element("DisplayName", owner);
  xml.raw("</Grantee>").element("Permission", "FULL_CONTROL").close("Grant");
  if ((mode & 0004) != 0) write_group_grant(xml, "READ");
  if ((mode & 0002) != 0) write_group_grant(xml, "WRITE");
  xml.close("AccessControlList");
  return xml.finish();
}

}  // namespace stoa::s3

#include "frontends/s3/op/acl.h"

#include "frontends/s3/op/owner.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kAuthenticatedUsers = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";

}  // namespace

std::vector<Grant> grants_of(std::string_view owner, std::uint32_t mode) {
  std::vector<Grant> grants{{std::string(owner), false, "FULL_CONTROL"}};
  if ((mode & 0004) != 0) grants.push_back({std::string(kAuthenticatedUsers), true, "READ"});
  if ((mode & 0002) != 0) grants.push_back({std::string(kAuthenticatedUsers), true, "WRITE"});
  return grants;
}

std::string acl_document(std::string_view owner, const std::vector<Grant>& grants) {
  XmlWriter xml("AccessControlPolicy");
  write_owner(xml, "Owner", owner);
  xml.open("AccessControlList");
  for (const Grant& grant : grants) {
    xml.open("Grant").raw("<Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"");
    xml.raw(grant.group ? "Group" : "CanonicalUser").raw("\">");
    if (grant.group) {
      xml.element("URI", grant.grantee);
    } else {
      xml.element("ID", grant.grantee).element("DisplayName", grant.grantee);
    }
    xml.raw("</Grantee>").element("Permission", grant.permission).close("Grant");
  }
  xml.close("AccessControlList");
  return xml.finish();
}

}  // namespace stoa::s3

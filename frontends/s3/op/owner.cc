#include "frontends/s3/op/owner.h"

namespace stoa::s3 {

std::string owner_name(const core::RegistrySnapshot& registry, std::uint32_t uid) {
  const core::User* user = registry.find_user_by_uid(uid);
  return user != nullptr ? user->name : "uid-" + std::to_string(uid);
}

void write_owner(XmlWriter& xml, std::string_view element, std::string_view name) {
  xml.open(element).element("ID", name).element("DisplayName", name).close(element);
}

}  // namespace stoa::s3

#include "frontends/kerberos/principals.h"

namespace stoa::kerberos {

const core::User* user_of_principal(const core::RegistrySnapshot& registry, std::string_view realm,
                                    std::string_view principal) {
  if (const core::User* user = registry.find_user_by_principal(principal); user != nullptr) return user;
  const std::size_t at = principal.rfind('@');
  if (at == principal.npos || realm.empty() || principal.substr(at + 1) != realm) return nullptr;
  const std::string_view name = principal.substr(0, at);
  // A user has one identity: one with another principal on record is not known by its name as well.
  const core::User* user = name.find('/') == name.npos ? registry.find_user(name) : nullptr;
  return user != nullptr && user->principal.empty() ? user : nullptr;
}

}  // namespace stoa::kerberos

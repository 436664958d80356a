#include "frontends/nfs/identity.h"

#include <algorithm>
#include <array>

namespace stoa::nfs {
namespace {

using core::SecurityFlavor;

constexpr std::array kAllFlavors{SecurityFlavor::kSys, SecurityFlavor::kKrb5, SecurityFlavor::kKrb5i,
                                 SecurityFlavor::kKrb5p};

SecurityFlavor flavor_of(const rpc::Credential& credential) {
  if (credential.principal.empty()) return SecurityFlavor::kSys;
  switch (credential.service) {
    case rpc::GssService::kNone:
      return SecurityFlavor::kKrb5;
    case rpc::GssService::kIntegrity:
      return SecurityFlavor::kKrb5i;
    case rpc::GssService::kPrivacy:
      break;
  }
  return SecurityFlavor::kKrb5p;
}

}  // namespace

std::span<const SecurityFlavor> all_flavors(const IdentityRules& rules) {
  return std::span(kAllFlavors).first(rules.kerberos ? kAllFlavors.size() : 1);
}

std::span<const SecurityFlavor> flavors_of(const core::Export& entry, const IdentityRules& rules) {
  if (entry.security.empty()) return all_flavors(rules);
  if (rules.kerberos) return entry.security;
  // AUTH_SYS is all that there is: that, or nothing.
  const bool sys = std::ranges::find(entry.security, SecurityFlavor::kSys) != entry.security.end();
  return all_flavors(rules).first(sys ? 1 : 0);
}

bool is_allowed(std::span<const SecurityFlavor> flavors, const rpc::Credential& credential) {
  return std::ranges::find(flavors, flavor_of(credential)) != flavors.end();
}

std::uint32_t pseudo_flavor(SecurityFlavor flavor) {
  switch (flavor) {
    case SecurityFlavor::kSys:
      return static_cast<std::uint32_t>(rpc::AuthFlavor::kSys);
    case SecurityFlavor::kKrb5:
      return 390003;
    case SecurityFlavor::kKrb5i:
      return 390004;
    case SecurityFlavor::kKrb5p:
      return 390005;
  }
  return 0;
}

void squash(const core::ClientRule& rule, const rpc::Credential& claimed, const core::User* user,
            core::Credentials& out) {
  out.groups.clear();
  if (rule.squash == core::Squash::kAll || (!claimed.sys && user == nullptr)) {
    out.uid = rule.anonymous_uid;
    out.gid = rule.anonymous_gid;
    return;
  }
  const bool squash_root = rule.squash == core::Squash::kRoot;
  const auto group = [&](std::uint32_t gid) { return squash_root && gid == 0 ? rule.anonymous_gid : gid; };
  const std::uint32_t uid = claimed.sys ? claimed.uid : user->uid;
  out.uid = squash_root && uid == 0 ? rule.anonymous_uid : uid;
  out.gid = group(claimed.sys ? claimed.gid : user->gid);
  if (user != nullptr) {
    if (claimed.sys) out.groups.push_back(group(user->gid));
    for (const std::uint32_t gid : user->groups) out.groups.push_back(group(gid));
  } else {
    for (std::uint32_t i = 0; i < claimed.group_count; ++i) out.groups.push_back(group(claimed.groups[i]));
  }
}

}  // namespace stoa::nfs

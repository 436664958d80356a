#include "frontends/native/server/export_rules.h"

namespace stoa::native {

bool is_published(const core::Export& entry) {
  return entry.native;
}

bool needs_tls(const core::Export& entry) {
  return entry.native_tls_required;
}

Status identify(const core::RegistrySnapshot& registry, const core::ClientRule& rule, const Principal& principal,
                const Claim& claim, core::Credentials& cred) {
  const bool host = principal.kind == KeyKind::kHost;
  const core::User* const user = host ? registry.find_user_by_uid(claim.uid) : registry.find_user(principal.name);
  if (!host && user == nullptr) return fail(Errc::kAccess);
  cred.groups.clear();
  if (rule.squash == core::Squash::kAll) {
    cred.uid = rule.anonymous_uid;
    cred.gid = rule.anonymous_gid;
    return {};
  }
  const bool squash_root = rule.squash == core::Squash::kRoot;
  const auto group = [&](std::uint32_t gid) { return squash_root && gid == 0 ? rule.anonymous_gid : gid; };
  const std::uint32_t uid = host ? claim.uid : user->uid;
  cred.uid = squash_root && uid == 0 ? rule.anonymous_uid : uid;
  cred.gid = group(host ? claim.gid : user->gid);
  // A user on record has the groups on record, whatever a host says, as over NFS.
  if (user != nullptr) {
    if (host) cred.groups.push_back(group(user->gid));
    for (const std::uint32_t gid : user->groups) cred.groups.push_back(group(gid));
  } else {
    for (const std::uint32_t gid : claim.groups) cred.groups.push_back(group(gid));
  }
  return {};
}

}  // namespace stoa::native

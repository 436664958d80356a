#include "frontends/native/server/export_rules.h"

#include <algorithm>

#include "frontends/kerberos/principals.h"

namespace stoa::native {
namespace {

const core::User* find_user(const core::RegistrySnapshot& registry, std::string_view realm, const Principal& principal,
                            const Claim& claim) {
  switch (principal.kind) {
    case KeyKind::kHost:
      return registry.find_user_by_uid(claim.uid);
    case KeyKind::kUser:
      return registry.find_user(principal.name);
    case KeyKind::kKerberos:
      return kerberos::user_of_principal(registry, realm, principal.name);
  }
  return nullptr;
}

}  // namespace

bool is_published(const core::Export& entry) {
  return entry.native;
}

bool needs_tls(const core::Export& entry) {
  return entry.native_tls_required;
}

std::string_view audit_reason(WireStatus refusal) {
  switch (refusal) {
    case WireStatus::no_rule:
      return "the export has no rule for this address";
    case WireStatus::wrong_key:
      return "wrong key";
    case WireStatus::tls_required:
      return "the export requires TLS";
    case WireStatus::not_allowed:
      return "the key does not allow to say for whom";
    case WireStatus::kerberos_refused:
      return "the export takes no Kerberos";
    case WireStatus::kerberos_needs_tls:
      return "the export takes Kerberos over TLS only";
    case WireStatus::no_user:
      return "no user has this principal";
    default:
      return "the export is not published";
  }
}

KerberosRule kerberos_rule(const core::Export& entry) {
  const auto takes = [&](core::SecurityFlavor flavor) {
    return std::ranges::find(entry.security, flavor) != entry.security.end();
  };
  if (entry.security.empty() || takes(core::SecurityFlavor::kKrb5)) return KerberosRule::kYes;
  const bool sealed = takes(core::SecurityFlavor::kKrb5i) || takes(core::SecurityFlavor::kKrb5p);
  return sealed ? KerberosRule::kOverTls : KerberosRule::kNo;
}

Status identify(const core::RegistrySnapshot& registry, const core::ClientRule& rule, std::string_view realm,
                const Principal& principal, const Claim& claim, core::Credentials& cred) {
  const bool host = principal.kind == KeyKind::kHost;
  const core::User* const user = find_user(registry, realm, principal, claim);
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

// What an export lets a client do: its rules, read-only, squashing. The rules are those of NFS.
#pragma once

#include <array>
#include <span>

#include "core/api/context.h"
#include "core/api/registry.h"
#include "frontends/native/protocol/status.h"
#include "frontends/native/server/principal.h"

namespace stoa::native {

using Address = std::array<std::uint8_t, 16>;

// Whether it is published over this protocol.
bool is_published(const core::Export& entry);
// Whether it takes clients with TLS only.
bool needs_tls(const core::Export& entry);

// Whether it takes log-ins by Kerberos. A channel without TLS authenticates its calls and no more, which is krb5; one
// with TLS has what krb5p asks for, too.
enum class KerberosRule : std::uint8_t { kNo, kOverTls, kYes };
KerberosRule kerberos_rule(const core::Export& entry);

// Why a client was refused, for audit. `refusal`: of a log-in, or of a call as a whole.
std::string_view audit_reason(WireStatus refusal);

// For whom a call asks, as its call block says. Empty: it says nothing.
struct Claim {
  std::uint32_t uid = 0, gid = 0;
  std::vector<std::uint32_t> groups{};
};

// Sets who asks in `cred`, squashed by the rule. `realm`: of the server's keytab. kAccess: there is no such user.
Status identify(const core::RegistrySnapshot& registry, const core::ClientRule& rule, std::string_view realm,
                const Principal& principal, const Claim& claim, core::Credentials& cred);

}  // namespace stoa::native

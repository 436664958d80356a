// Identity of a caller: its credential (AUTH_SYS, Kerberos) matched with the registry's users.
#pragma once

#include <span>
#include <string>

#include "core/api/credentials.h"
#include "core/api/registry.h"
#include "frontends/nfs/rpc/message.h"

namespace stoa::nfs {

// Rules for the whole server.
struct IdentityRules {
  bool kerberos = false;                  // there is a keytab
  std::string realm{};                    // as kerberos::user_of_principal() has it
  std::string id_domain = "localdomain";  // of user@domain in NFS version 4
};

// The flavors that an export accepts, in order of preference: its own list without unsupported ones, or all of the
// server.
std::span<const core::SecurityFlavor> flavors_of(const core::Export& entry, const IdentityRules& rules);
// The flavors of the server.
std::span<const core::SecurityFlavor> all_flavors(const IdentityRules& rules);
// Whether a call may come in like this. AUTH_NONE goes where AUTH_SYS goes.
bool is_allowed(std::span<const core::SecurityFlavor> flavors, const rpc::Credential& credential);

// RFC 2623 2.3.1, RFC 7530 3.2.1.1: one number for mechanism and service.
std::uint32_t pseudo_flavor(core::SecurityFlavor flavor);

// Applies a client rule to a caller. `user`: its record, if it has one. Its groups are then those of the record,
// because AUTH_SYS carries 16 at most; the group that an AUTH_SYS caller has chosen for new files stays.
void squash(const core::ClientRule& rule, const rpc::Credential& claimed, const core::User* user,
            core::Credentials& out);

}  // namespace stoa::nfs

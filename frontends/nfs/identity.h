// Who a caller is: what it shows (AUTH_SYS, Kerberos) put beside the registry's users.
#pragma once

#include <span>
#include <string>

#include "core/api/credentials.h"
#include "core/api/registry.h"
#include "frontends/nfs/rpc/message.h"

namespace stoa::nfs {

// What holds for the whole server.
struct IdentityRules {
  bool kerberos = false;                  // there is a keytab
  std::string realm{};                    // principals of this realm are users by their name; empty: of no realm
  std::string id_domain = "localdomain";  // of user@domain in NFS version 4
};

// The user that a Kerberos principal stands for: who has it on record, else, in the server's realm, who has its name.
// Null: nobody, and so the anonymous user. Names of services and machines ("nfs/host@REALM") are users only by record.
const core::User* user_of_principal(const core::RegistrySnapshot& registry, const IdentityRules& rules,
                                    std::string_view principal);

// What an export takes, the best first: its own list without what the server does not have, or all that the server has.
std::span<const core::SecurityFlavor> flavors_of(const core::Export& entry, const IdentityRules& rules);
// What the server has.
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

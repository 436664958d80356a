// Which user a Kerberos principal is: the same over every protocol.
#pragma once

#include <string_view>

#include "core/api/registry.h"

namespace stoa::kerberos {

// The user with this principal on record, else, in the server's realm, the one of its name. Null: none. `realm`: empty:
// principals of no realm are users by their name. Names of services and machines ("nfs/host@REALM") are users only by
// record.
const core::User* user_of_principal(const core::RegistrySnapshot& registry, std::string_view realm,
                                    std::string_view principal);

}  // namespace stoa::kerberos

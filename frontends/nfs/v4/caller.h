// The client of an operation. With a session, SEQUENCE has set it. In minor version 0 each operation names its client,
// by a clientid or by a stateid, and renews its lease by that (RFC 7530 9.5, 9.1.4.4).
#pragma once

#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {

// These set c.client and c.holder. With a session always kOk.
// kStaleClientId: of another run of the server, or never issued. kExpired: its lease ran out, and conflicting state
// was granted.
Nfs4Status identify(Compound& c, std::uint64_t client);
// kStaleStateId: of another run of the server. kExpired, kBadStateId.
Nfs4Status identify(Compound& c, const Stateid& stateid);

}  // namespace stoa::nfs4

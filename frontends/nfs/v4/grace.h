// Grace (RFC 8881 8.4.2, RFC 7530 9.6.2) for operations that grant opens and delegations.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// The status in and out of grace: kGrace, kNoGrace, kReclaimBad.
Nfs4Status check_grace(Compound& c, bool reclaim);
// Durable: the next start waits for this client. Before its first state (ClientTable::remember).
Nfs4Status be_remembered(Compound& c);

}  // namespace stoa::nfs4

// Grace (RFC 8881 8.4.2, RFC 7530 9.6.2) for what hands out opens and delegations.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// What may come in grace, and what may not: kGrace, kNoGrace, kReclaimBad.
Nfs4Status check_grace(Compound& c, bool reclaim);
// Durable: the next start waits for this client. Before its first state (ClientTable::remember).
Nfs4Status be_remembered(Compound& c);

}  // namespace stoa::nfs4

// Prices of reading and writing. Most are foreseen and paid before a COMPOUND is run, in turn with others
// (price_compound); the rest is paid here, or delayed.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// For I/O of the current file, which is in an export, just before it moves anything. kOk: paid, or there is nothing to
// pay; kDelay: a QoS class is over its limit.
Nfs4Status pay_for_io(Compound& c, const qos::Price& price);

}  // namespace stoa::nfs4

// What reading and writing pays. Most of it is foreseen and paid before a COMPOUND is run, in turn with others
// (price_compound); what was not pays here, or is told to come later.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// For I/O of the current file, which is in an export, just before it moves anything. kOk: paid, or there is nothing to
// pay; kDelay: somebody's QoS class stands in the way.
Nfs4Status pay_for_io(Compound& c, const qos::Price& price);

}  // namespace stoa::nfs4

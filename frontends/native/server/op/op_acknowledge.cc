#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_acknowledge(OperationRun& run, const AcknowledgeArgs& in, Nothing&) {
  SessionLeases& leases = run.session.leases;
  const auto lease = leases.find(in.lease);
  if (!lease || run.state.lease_revoked(*lease)) {
    if (lease) run.state.return_lease(*lease);
    leases.forget(in.lease);
    return WireStatus::lease_lost;
  }
  if (const Status kept = run.state.acknowledge(*lease, in.lease_bits); !kept) {
    if (kept.error().code != Errc::kTimeout) return run.failed(kept.error());
    run.state.return_lease(*lease);
    leases.forget(in.lease);
    return WireStatus::lease_lost;
  }
  leases.kept(in.lease, in.lease_bits);
  return WireStatus::ok;
}

}  // namespace stoa::native

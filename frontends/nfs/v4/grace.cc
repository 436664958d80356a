#include "frontends/nfs/v4/grace.h"

#include "base/log.h"
#include "frontends/nfs/v4/client_table.h"

namespace stoa::nfs4 {

Nfs4Status check_grace(Compound& c, bool reclaim) {
  Client& client = *c.client;
  if (reclaim) {
    if (client.reclaim_complete || !c.env.state.in_grace()) return Nfs4Status::kNoGrace;
    return c.env.state.may_reclaim(core::Protocol::kNfs, client.name) ? Nfs4Status::kOk : Nfs4Status::kReclaimBad;
  }
  if (c.env.state.in_grace()) return Nfs4Status::kGrace;
  if (client.reclaim_complete) return Nfs4Status::kOk;
  if (c.minor != 0) return Nfs4Status::kGrace;
  // Minor version 0 has no RECLAIM_COMPLETE: a client that starts something new has finished
  // reclaiming.
  if (!client.reclaim_complete.exchange(true)) c.env.state.reclaim_done(core::Protocol::kNfs, client.name);
  return Nfs4Status::kOk;
}

Nfs4Status be_remembered(Compound& c) {
  const Status done = c.env.clients.remember(*c.client);
  if (done) return Nfs4Status::kOk;
  log_error("nfs4", "a client could not be recorded for reclaim", {{"error", describe(done.error())}});
  return to_nfs4_status(done.error().code);
}

}  // namespace stoa::nfs4

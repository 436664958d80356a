// Glue between libnfs's C callbacks and the phases.
#pragma once

#include <string>

#include "bench/load/file_choice.h"
#include "bench/load/libnfs_raw.h"
#include "bench/load/nfs_session.h"

namespace stoa::bench {

// callback<&MyPhase::on_created, CREATE3res>: checks transport and NFS status, then calls the member with slot and
// result. Every failure is counted under its name.
template <class P, class Res, void (P::*Member)(Slot&, Res&)>
void nfs_callback(rpc_context* rpc, int status, void* data, void* private_data) {
  Slot& slot = *static_cast<Slot*>(private_data);
  if (status == RPC_STATUS_CANCEL) return;
  if (status != RPC_STATUS_SUCCESS) {
    slot.session->failed(slot, std::string("rpc: ") + rpc_get_error(rpc));
    return;
  }
  Res& res = *static_cast<Res*>(data);
  slot.outcome->request(slot.request_ns);
  if (res.status != NFS3_OK) {
    slot.session->failed(slot, nfsstat3_to_str(res.status));
    return;
  }
  slot.request_ns = now_ns();
  (static_cast<P*>(slot.phase)->*Member)(slot, res);
}

inline void queued(Slot& slot, int rc) {
  if (rc != 0) slot.session->failed(slot, "libnfs could not queue the call");
}

}  // namespace stoa::bench

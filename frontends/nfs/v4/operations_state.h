// The operations on clients, sessions, opens and locks. Those on files: operations.h.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// The want flags of OPEN's share_access since minor version 1: requests for delegations (RFC 8881 18.16.3, RFC 9754).
constexpr std::uint32_t want_flags(const Compound& c) {
  return c.minor == 0 ? 0 : 0xff00 | 0x30000 | 0x300000;
}

// Minor version 0.
Nfs4Status op_setclientid(Compound& c);
Nfs4Status op_setclientid_confirm(Compound& c);
Nfs4Status op_renew(Compound& c);
Nfs4Status op_open_confirm(Compound& c);
Nfs4Status op_release_lockowner(Compound& c);

// Minor versions 1 and 2.
Nfs4Status op_exchange_id(Compound& c);
Nfs4Status op_create_session(Compound& c);
Nfs4Status op_bind_conn_to_session(Compound& c);
Nfs4Status op_backchannel_ctl(Compound& c);
Nfs4Status op_destroy_session(Compound& c);
Nfs4Status op_destroy_clientid(Compound& c);
Nfs4Status op_reclaim_complete(Compound& c);
Nfs4Status op_test_stateid(Compound& c);
Nfs4Status op_free_stateid(Compound& c);

Nfs4Status op_open(Compound& c);
Nfs4Status op_open_downgrade(Compound& c);
Nfs4Status op_close(Compound& c);
Nfs4Status op_lock(Compound& c);
Nfs4Status op_lockt(Compound& c);
Nfs4Status op_locku(Compound& c);
Nfs4Status op_delegreturn(Compound& c);
Nfs4Status op_want_delegation(Compound& c);

}  // namespace stoa::nfs4

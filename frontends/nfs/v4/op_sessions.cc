// The smaller operations on sessions and clients: BIND_CONN_TO_SESSION (RFC 8881 18.34), DESTROY_SESSION (18.37),
// DESTROY_CLIENTID (18.50), RECLAIM_COMPLETE (18.51), BACKCHANNEL_CTL (18.33).
#include <algorithm>

#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

SessionId read_session_id(rpc::XdrReader& in) {
  SessionId id{};
  const auto bytes = in.fixed(id.size());
  if (in.ok()) std::ranges::copy(bytes, id.begin());
  return id;
}

}  // namespace

Nfs4Status op_bind_conn_to_session(Compound& c) {
  enum : std::uint32_t { kFore = 1, kBack = 2, kBoth = 3, kForeOrBoth = 3, kBackOrBoth = 7 };
  const SessionId id = read_session_id(c.in);
  const std::uint32_t direction = c.in.u32();
  c.in.boolean();  // RDMA mode
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (direction != kFore && direction != kBack && direction != kForeOrBoth && direction != kBackOrBoth) {
    return Nfs4Status::kBadXdr;
  }
  const auto session = c.env.clients.find_session(id);
  if (session == nullptr) return Nfs4Status::kBadSession;
  // Every connection serves the fore channel of any session.
  const bool back = direction != kFore && c.call.back != nullptr;
  if (back) session->back->bind(c.call.back->keep());
  c.env.clients.renew(*session->client, c.call.now);
  c.out.fixed(id);
  c.out.u32(!back ? kFore : direction == kBack ? kBack : kBoth);
  c.out.boolean(false);
  return Nfs4Status::kOk;
}

Nfs4Status op_backchannel_ctl(Compound& c) {
  CallbackSecurity security = read_callback_security(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  c.session->back->set_security(std::move(security));
  return Nfs4Status::kOk;
}

Nfs4Status op_destroy_session(Compound& c) {
  const SessionId id = read_session_id(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  // The session of this very COMPOUND may only go last (18.37.3).
  if (c.session != nullptr && c.session->id == id && !c.last) return Nfs4Status::kNotOnlyOp;
  return c.env.clients.destroy_session(id);
}

Nfs4Status op_destroy_clientid(Compound& c) {
  const std::uint64_t client = c.in.u64();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  return c.env.clients.destroy_client(client);
}

Nfs4Status op_reclaim_complete(Compound& c) {
  const bool one_fs = c.in.boolean();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  // For one file system: after a migration, which there is not.
  if (one_fs) return c.current ? Nfs4Status::kOk : Nfs4Status::kNoFileHandle;
  Client& client = *c.client;
  if (client.reclaim_complete) return Nfs4Status::kCompleteAlready;
  // The record of before the restart is this client's from now on, also when it has reclaimed nothing: it goes with the
  // client.
  if (c.env.state.may_reclaim(core::Protocol::kNfs, client.name)) {
    if (const Status kept = c.env.clients.remember(client); !kept) return c.status_of(kept.error());
  }
  if (client.reclaim_complete.exchange(true)) return Nfs4Status::kCompleteAlready;
  c.env.state.reclaim_done(core::Protocol::kNfs, client.name);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

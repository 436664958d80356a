#include "frontends/nfs/v4/caller.h"

#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

Nfs4Status adopt(Compound& c, std::uint64_t id, Nfs4Status unknown) {
  const auto found = c.env.clients.find_client(id);
  if (found.client == nullptr) return found.ended ? Nfs4Status::kExpired : unknown;
  c.env.clients.renew(*found.client, c.call.now);
  c.client = found.client;
  c.holder = c.ctx.holder = found.client->holder;
  return Nfs4Status::kOk;
}

}  // namespace

Nfs4Status identify(Compound& c, std::uint64_t client) {
  if (c.minor != 0) return c.client != nullptr ? Nfs4Status::kOk : Nfs4Status::kStaleClientId;
  return adopt(c, client, Nfs4Status::kStaleClientId);
}

Nfs4Status identify(Compound& c, const Stateid& stateid) {
  if (c.minor != 0) return c.client != nullptr ? Nfs4Status::kOk : Nfs4Status::kBadStateId;
  if (is_special(stateid)) return Nfs4Status::kBadStateId;
  const std::uint64_t client = client_of(stateid);
  if (client >> 32 != c.env.clients.boot()) return Nfs4Status::kStaleStateId;
  return adopt(c, client, Nfs4Status::kBadStateId);
}

}  // namespace stoa::nfs4

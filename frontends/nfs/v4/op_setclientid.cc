// SETCLIENTID (RFC 7530 16.33), SETCLIENTID_CONFIRM (16.34)
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kAddressBytesMax = 256;  // of a netid and of a universal address: much longer than any

}  // namespace

Nfs4Status op_setclientid(Compound& c) {
  rpc::XdrReader& in = c.in;
  ClientTable::SetClient wanted{.verifier = in.u64()};
  wanted.id = in.string(kOwnerBytesMax);
  wanted.callback.program = in.u32();
  wanted.callback.network = in.string(kAddressBytesMax);
  wanted.callback.address = in.string(kAddressBytesMax);
  wanted.callback.ident = in.u32();
  if (!in.ok()) return Nfs4Status::kBadXdr;
  wanted.principal = Principal::of(c.call.header.credential);
  wanted.peer = peer_key(c.call.peer);
  wanted.address = c.call.peer.text;

  const ClientTable::ClientSet result = c.env.clients.set_client(wanted);
  if (result.status == Nfs4Status::kClidInUse) {
    c.error_body = true;
    c.out.string(result.in_use.network);
    c.out.string(result.in_use.address);
  }
  if (result.status != Nfs4Status::kOk) return result.status;
  c.out.u64(result.client);
  c.out.u64(result.confirm_verifier);
  return Nfs4Status::kOk;
}

Nfs4Status op_setclientid_confirm(Compound& c) {
  const std::uint64_t client = c.in.u64();
  const std::uint64_t confirm_verifier = c.in.u64();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  return c.env.clients.confirm_client(client, confirm_verifier, Principal::of(c.call.header.credential), c.call.peer);
}

}  // namespace stoa::nfs4

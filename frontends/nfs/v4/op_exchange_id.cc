// RFC 8881 18.35
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t {
  kSuppMovedRefer = 0x1,
  kSuppMovedMigr = 0x2,
  kSuppFenceOps = 0x4,
  kBindPrincStateid = 0x100,
  kUseNonPnfs = 0x10000,
  kUsePnfsMds = 0x20000,
  kUsePnfsDs = 0x40000,
  kUpdateConfirmed = 0x40000000,
  kConfirmed = 0x80000000,
};
constexpr std::uint32_t kFlagsOfClients =
    kSuppMovedRefer | kSuppMovedMigr | kBindPrincStateid | kUseNonPnfs | kUsePnfsMds | kUsePnfsDs | kUpdateConfirmed;
enum : std::uint32_t { kSp4None = 0, kSp4MachCred = 1, kSp4Ssv = 2 };

void skip_bitmap(rpc::XdrReader& in) {
  for (std::uint32_t words = in.u32(); words > 0 && in.ok(); --words) in.u32();
}

void skip_list_of_opaque(rpc::XdrReader& in) {
  for (std::uint32_t items = in.u32(); items > 0 && in.ok(); --items) in.opaque(kOwnerBytesMax);
}

}  // namespace

Nfs4Status op_exchange_id(Compound& c) {
  rpc::XdrReader& in = c.in;
  ClientTable::Exchange wanted{.verifier = in.u64()};
  wanted.owner = in.string(kOwnerBytesMax);
  const std::uint32_t flags = in.u32();
  const std::uint32_t protection = in.u32();
  switch (protection) {
    case kSp4None:
      break;
    case kSp4MachCred:
      skip_bitmap(in);
      skip_bitmap(in);
      break;
    case kSp4Ssv:
      skip_bitmap(in);
      skip_bitmap(in);
      skip_list_of_opaque(in);
      skip_list_of_opaque(in);
      in.u32();
      in.u32();
      break;
    default:
      return Nfs4Status::kBadXdr;
  }
  const std::uint32_t implementations = in.u32();
  if (implementations > 1) return Nfs4Status::kBadXdr;
  if (implementations == 1) {
    in.opaque(kOwnerBytesMax);
    in.opaque(kOwnerBytesMax);
    in.u64();
    in.u32();
  }
  if (!in.ok()) return Nfs4Status::kBadXdr;
  // RFC 7862 14.1 has one more than RFC 8881 18.35.1.
  const std::uint32_t known = kFlagsOfClients | (c.minor >= 2 ? std::uint32_t{kSuppFenceOps} : 0u);
  if ((flags & ~known) != 0) return Nfs4Status::kInval;
  // Offered is SP4_NONE.
  if (protection == kSp4MachCred) return Nfs4Status::kInval;
  if (protection == kSp4Ssv) return Nfs4Status::kEncrAlgUnsupp;

  wanted.update = (flags & kUpdateConfirmed) != 0;
  wanted.principal = Principal::of(c.call.header.credential);
  wanted.peer = peer_key(c.call.peer);
  wanted.address = c.call.peer.text;
  const ClientTable::Exchanged result = c.env.clients.exchange(wanted);
  if (result.status != Nfs4Status::kOk) return result.status;

  c.out.u64(result.client);
  c.out.u32(result.sequence);
  c.out.u32(kUseNonPnfs | (flags & kSuppFenceOps) | (result.confirmed ? std::uint32_t{kConfirmed} : 0u));
  c.out.u32(kSp4None);
  // One server, one scope, under all of its addresses: clients may trunk (2.10.5).
  const std::uint64_t volume = c.ns.volume_id();
  std::array<std::byte, 8> name;
  rpc::store_be32(name.data(), static_cast<std::uint32_t>(volume >> 32));
  rpc::store_be32(name.data() + 4, static_cast<std::uint32_t>(volume));
  c.out.u64(0);
  c.out.opaque(name);
  c.out.opaque(name);
  c.out.u32(0);  // no nfs_impl_id4
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

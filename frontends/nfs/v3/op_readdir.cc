// RFC 1813 3.3.16
#include "frontends/nfs/v3/listing.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_readdir(Operation& op) {
  const auto handle = op.read_handle();
  ListingRequest request{.cookie = op.in.u64(), .verifier = op.in.u64(), .bytes_max = op.in.u32()};
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_attributes(dir.error());

  request.dir = *dir;
  request.name_bytes_max = request.bytes_max;
  return list_directory(op, request);
}

}  // namespace stoa::nfs3

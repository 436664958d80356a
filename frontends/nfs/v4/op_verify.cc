// RFC 8881 18.31
#include "frontends/nfs/v4/compare_attributes.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_verify(Compound& c) {
  const Nfs4Status compared = compare_attributes(c);
  return compared == Nfs4Status::kSame ? Nfs4Status::kOk : compared;
}

}  // namespace stoa::nfs4

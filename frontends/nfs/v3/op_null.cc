#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_null(Operation&) {
  return {};
}

}  // namespace stoa::nfs3

#include "frontends/nfs/v4/security.h"

namespace stoa::nfs4 {

void answer_security(Compound& c) {
  c.out.u32(2);
  c.out.u32(static_cast<std::uint32_t>(rpc::AuthFlavor::kSys));
  c.out.u32(static_cast<std::uint32_t>(rpc::AuthFlavor::kNone));
  if (c.minor == 0) return;
  c.current.reset();
  c.has_current_stateid = false;
}

}  // namespace stoa::nfs4

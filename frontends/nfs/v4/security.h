// The results of SECINFO and SECINFO_NO_NAME (RFC 8881 18.29, 18.45).
#pragma once

#include <span>

#include "core/api/registry.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// These flavours, in this order; with AUTH_SYS also AUTH_NONE, which is squashed. In 4.1 the current filehandle is used
// up (2.6.3.1.1.8).
void answer_security(Compound& c, std::span<const core::SecurityFlavor> flavors);

}  // namespace stoa::nfs4

// What SECINFO and SECINFO_NO_NAME answer (RFC 8881 18.29, 18.45).
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// The flavours that every export takes: AUTH_SYS, and AUTH_NONE, which is squashed. In 4.1 the current filehandle is used up
// (2.6.3.1.1.8).
void answer_security(Compound& c);

}  // namespace stoa::nfs4

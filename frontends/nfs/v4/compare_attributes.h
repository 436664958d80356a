// The common part of VERIFY and NVERIFY (RFC 8881 18.31, 18.15).
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// Reads the arguments and compares with the current file: kSame, kNotSame, or an error.
Nfs4Status compare_attributes(Compound& c);

}  // namespace stoa::nfs4

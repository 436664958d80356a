// The status for an object of the wrong type: the core has fewer codes for it than the protocol.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// For an operation on the content of regular files (RFC 8881 18.22.3 and others): kIsDir, kSymlink, kWrongType.
Nfs4Status data_status(Compound& c, core::FileId file, const Error& error);
// For an operation on the current filehandle as a directory that distinguishes symlinks (18.13.3): kSymlink, else
// kNotDir.
Nfs4Status directory_status(Compound& c, core::FileId dir, const Error& error);

}  // namespace stoa::nfs4

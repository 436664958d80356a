// The opens of a client as NFSv4 has them: one of an owner and a file, and a second OPEN adds to it (RFC 8881 9.9).
#pragma once

#include "frontends/nfs/v4/open_arguments.h"

namespace stoa::nfs4 {

// Whether the client may have one more open, before the file is opened: an OPEN that is refused for want of room leaves
// no file behind. Without room it may add to an open that is there. `current`: the current filehandle's.
Nfs4Status check_room_for_open(Compound& c, const OpenArguments& arguments, core::FileId current);
// Takes over what was opened in the table of all protocols. On an error it is still the caller's.
Nfs4Status keep_open(Compound& c, const OpenArguments& arguments, const core::FileRef& file, core::OpenId opened,
                     Stateid& stateid);

}  // namespace stoa::nfs4

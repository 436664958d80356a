// Who is at the other end of a socket.
#pragma once

#include <sys/socket.h>

#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

Peer peer_of(const sockaddr_storage& from);

}  // namespace stoa::rpc

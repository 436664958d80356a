// What becomes of the leases of a client, told by its server.
#pragma once

#include "core/api/leases.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// A lease is to be given up, or a part of it. Answered by the operation `acknowledge`, when what was cached is written
// back and forgotten. May come again.
struct LeaseRecalled {
  U64 lease = 0;    // LeaseArgs::lease
  U64 file = 0;     // of the lease
  U64 subject = 0;  // the file that somebody wants: of a files lease, the directory or one of its files
  U32 keeps = 0;    // LeaseBits that may stay
  core::RecallReason reason{};
};

// Called by a thread of the client, one call at a time: it must return at once, and not call the client.
class LeaseEvents {
 public:
  virtual void lease_recalled(const LeaseRecalled& recall) = 0;
  // It is gone without having been given up: taken away by the server (a recall was not answered in time), or not to be
  // had again in the session that follows a restart. What was cached under it is not to be believed, nor written.
  virtual void lease_lost(U64 lease) = 0;

 protected:
  ~LeaseEvents() = default;
};

}  // namespace stoa::native

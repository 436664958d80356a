// Events of holders of opens, locks and leases: one object for each front end of a head, which finds its client by the
// holder's id.
//
// Events are values and come from any thread. No lock of the core is held, yet a front end that called the core may
// hold locks of its own. A handler must not block, add or remove holders, or return a lease. It hands such work over to
// a thread of its own.
#pragma once

#include "core/api/file_handle.h"
#include "core/api/ids.h"
#include "core/api/leases.h"
#include "core/api/lock_request.h"

namespace stoa::core {

// The holder is to give up bits of a lease (StateTable::acknowledge). May come again.
struct LeaseRecall {
  HolderId holder;
  LeaseId lease;
  FileId file;
  std::uint32_t keeps;  // LeaseBits that may stay; none: it is to be returned
  RecallReason reason = RecallReason::kChange;
  FileId subject = kNoFile;  // the file that is wanted: of a files lease, the directory or one of its files
};

// A request that waited in StateTable::lock_or_wait has got its lock.
struct LockGranted {
  LockRequest lock;
};

// The turn of a request of StateTable::lock_in_turn has come: a retry is granted.
struct LockTurn {
  LockRequest wanted;
  HandleBytes handle;  // of the file, as given in the request
};

// A front end overrides the events that it uses.
class HolderEvents {
 public:
  virtual void lease_recalled(const LeaseRecall&) {}
  virtual void lock_granted(const LockGranted&) {}
  virtual void lock_turn(const LockTurn&) {}

 protected:
  ~HolderEvents() = default;
};

}  // namespace stoa::core

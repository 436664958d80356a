// The interface of a volume for front ends: blocking calls on values.
//
// Rules for every call:
//  - Thread-safe. Blocks at most for disk reads, and, for mutating calls, for one sync shared with other callers (see
//    OpContext::defers to wait later and together). Never waits for a lease recall unless OpContext::lease_patience is
//    set.
//  - On error nothing has changed: names, bytes, usage and time stamps are as before. (Data calls that fail part-way
//    through the disk, kIo and kNoSpace, may have changed the bytes of the requested range, never the size.)
//  - Common errors, not repeated below: kNotFound (a name), kStale (an id that is gone), kAccess, kNotOwner, kReadOnly,
//    kNotDirectory, kQuota, kNoSpace, kTimeout, kIo, kCorrupt, kShutdown, kRecallPending.
#pragma once

#include "base/error.h"
#include "core/api/auth_failure.h"
#include "core/api/context.h"
#include "core/api/recycle.h"
#include "core/api/requests.h"

namespace stoa::qos {
class QosClass;
}

namespace stoa::core {

class QosTable;

class Namespace {
 public:
  virtual ~Namespace() = default;

  // One call for each, with its contract: core/api/operations.def.
#define STOA_OPERATION(kind, name, reply, request, routing) \
  virtual Result<reply> name(const OpContext&, const request&) = 0;
#include "core/api/operations.def"

  // Blocks until all that it names is durable: the content is synced file by file side by side, the metadata once for
  // all. Files that are gone by now need nothing. kIo, kNoSpace: some changes are not durable, and none may be
  // acknowledged; a sync of a part of them may succeed.
  virtual Status sync(const OpContext&, const PendingDurability&) = 0;

  // Reports a refusal by the front end itself, for audit. The context has the caller and its address as far as they are
  // known. Cheap; waits for no disk.
  virtual void refused(const OpContext&, const AuthFailure&) = 0;

  // The same for the life of one run of the server; another one after each start (RFC 1813 3.3.7, writeverf3).
  virtual std::uint64_t boot_verifier() const = 0;
  // For ever the same for one volume: part of every handle, and the file system id of every protocol.
  virtual std::uint64_t volume_id() const = 0;

  // Part of what a front end does before a request. Checks no permission. Appends to `found` the result of
  // QosTable::find_directories() for the directories above a file, and itself if it is one. Next to free while the
  // directories above the file and the QoS classes of the table's directories are unchanged since the last call.
  // kStale: nothing was appended.
  virtual Status find_qos_classes(const OpContext&, FileId file, const QosTable& table,
                                  std::vector<qos::QosClass*>& found) = 0;
};

}  // namespace stoa::core

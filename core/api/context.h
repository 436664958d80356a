// The context of one operation: built by the front end, passed first, everywhere. No thread-locals.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "core/api/credentials.h"
#include "core/api/ids.h"
#include "core/api/pending_durability.h"
#include "core/api/request_key.h"

namespace stoa::core {

enum class Protocol : std::uint8_t { kInternal, kAdmin, kNfs, kSmb, kS3, kNative };

// Durability promised by the acknowledgement of a request.
enum class Durability : std::uint8_t {
  kApplied,  // seen by every protocol; may be lost by a crash (an NFS UNSTABLE write, SMB without write-through)
  kDurable,  // survives kill -9 and power cut
};

struct OpContext {
  std::uint64_t request_id = 0;
  // When set, the change is stored with it: a retransmission after a restart gets the original answer, and is not run
  // again.
  RequestKey request{};
  // For accounting and the journal, never for semantics, but that work of the core itself (kInternal) does not wait for
  // writers of before a restart (StateTable::remember_writer).
  Protocol protocol = Protocol::kInternal;
  Credentials cred = Credentials::superuser();
  std::string client{};         // address, for the journal and the log
  HolderId holder = kNoHolder;  // its lease of this key does not conflict
  LeaseKey lease_key{};
  // The caller asks back what it held before a restart: it does not wait for the data of others that do the same
  // (StateTable::remember_writer). Else two of them would wait for each other.
  bool reclaims = false;
  // The change was cached under this lease of `holder`. kLeaseLost, and nothing changes, unless it has write caching
  // still.
  std::optional<LeaseId> cached_under{};
  OpenId open = kNoOpen;  // through which content is read or written: mandatory locks of others forbid it
  // How long the call waits, with no lock held, for conflicting leases to be returned or revoked, before it answers
  // kRecallPending. For front ends that cannot park a request.
  std::chrono::milliseconds lease_patience{0};
  // The exported directory: an id that is not below it is kStale. kNoFile: no restriction.
  FileId root = kNoFile;
  bool read_only = false;  // the export is read-only for this client: every mutating call fails with kReadOnly
  // Up to the change, every wait ends by it with kTimeout: for locks and data gates, for room in the commit queue, for
  // what must be written before. Nothing was changed then, and a change that begins too late is not begun. What is left
  // out is the disk itself: a read, or the write of the queue by the call that leads it, takes as long as it takes.
  Deadline deadline{};
  // A change that is made is not taken back, so the wait for its durability has a deadline of its own. kTimeout then
  // means "not known": done and visible, and lost only by a crash. Set by front ends whose protocol has such an answer
  // (HTTP). NFS sets none: its clients take any error for "nothing happened", so the reply is held back, and the call,
  // sent again, is found in the duplicate request cache.
  Deadline durable_by{};

  Durability durability = Durability::kDurable;
  // The caller takes over durability: a mutating call (and commit()) returns as soon as its change is applied and
  // visible, and adds to `pending` what Namespace::sync() is to be given before the reply may leave. So a server that
  // has many requests at hand syncs all of them with one sync. Ignored with kApplied.
  bool defers = false;
  // The answer to `defers`, of all calls that were made with this context since the caller took it out. A context that
  // defers is used by one thread at a time; what a copy gathers is the copy's.
  mutable PendingDurability pending{};

  bool expired() const { return deadline.passed(); }

  // For a part of the call that another part, or sync(), makes durable.
  OpContext applied() const {
    OpContext part = *this;
    part.durability = Durability::kApplied;
    part.pending.clear();
    return part;
  }
  // For what is done on the way to durability, behind the change.
  OpContext after_change() const {
    OpContext part = *this;
    part.deadline = durable_by;
    part.pending.clear();
    return part;
  }
  // For taking back what the call has made, which must not be left half.
  OpContext without_deadline() const {
    OpContext part = applied();
    part.deadline = {};
    return part;
  }
};

}  // namespace stoa::core

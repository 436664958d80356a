// The context of one operation: built by the protocol, passed first, everywhere. No thread-locals.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/api/credentials.h"
#include "core/api/ids.h"
#include "core/api/pending_durability.h"
#include "core/api/request_key.h"

namespace stoa::core {

enum class Protocol : std::uint8_t { kInternal, kAdmin, kNfs, kSmb, kS3, kNative };

// What an acknowledgement of this request promises.
enum class Durability : std::uint8_t {
  kApplied,  // seen by every protocol; may be lost by a crash (an NFS UNSTABLE write, SMB without write-through)
  kDurable,  // survives kill -9 and power cut
};

struct OpContext {
  std::uint64_t request_id = 0;
  // When set, the change is stored with it: the same request after a restart is answered as done, and not run again.
  RequestKey request{};
  Protocol protocol = Protocol::kInternal;  // for accounting and the journal only, never for semantics
  Credentials cred = Credentials::superuser();
  std::string client{};         // address, for the journal and the log
  HolderId holder = kNoHolder;  // its lease of this key does not stand in the way
  LeaseKey lease_key{};
  OpenId open = kNoOpen;  // through which content is read or written: mandatory locks of others forbid it
  // The protocol cannot park a request: so long the call waits, with no lock held, for leases in its way to be returned
  // or revoked, before it answers kRecallPending.
  std::chrono::milliseconds lease_patience{0};
  // What is published to the caller: a file that it names by its id and that is not below this directory is kStale.
  // kNoFile: all there is.
  FileId root = kNoFile;
  bool read_only = false;  // the export is read-only for this client: every mutating call fails with kReadOnly
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  Durability durability = Durability::kDurable;
  // When set, a mutating call (and commit()) returns as soon as its change is applied and visible, and adds here what
  // to hand to Namespace::settle() before the reply may leave. A protocol that has many requests at hand settles all of
  // them with one sync. Ignored with kApplied.
  PendingDurability* pending = nullptr;

  bool expired() const { return std::chrono::steady_clock::now() >= deadline; }
};

}  // namespace stoa::core

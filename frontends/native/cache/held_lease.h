// What a client may keep of a file now, and how it is taken away: between the layer that has the leases
// (leased_storage) and those that keep bytes under them (frontends/native/data, the kernel's pages).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "core/api/credentials.h"
#include "core/api/ids.h"
#include "core/api/leases.h"
#include "frontends/native/cache/listed_files.h"

namespace stoa::native {

// A lease as it is held by this client. `number`: LeaseArgs::lease, told to the server with what was kept under it.
struct HeldLease {
  std::uint64_t number = 0;
  core::FileId file = core::kNoFile;  // the directory of a files lease, or the file
  std::uint32_t bits = core::kLeaseNone;
};

// While it lives, the lease does not lose a bit: a recall waits for it. For the moment in which bytes are taken from a
// cache or put there; never across a call to the server, nor a wait for one.
class LeasePin {
 public:
  LeasePin() = default;
  LeasePin(HeldLease lease, std::shared_ptr<void> hold) : lease_(lease), hold_(std::move(hold)) {}
  const HeldLease& lease() const { return lease_; }

 private:
  HeldLease lease_{};
  std::shared_ptr<void> hold_{};
};

// Thread-safe.
class LeaseCovers {
 public:
  // Pins the lease that covers content and attributes of the file with all of `bits` (LeaseBits). Empty: there is none
  // (several links, not granted, being recalled, not trusted any more). Never asks the server: leases are asked for
  // with look-ups and opens.
  virtual std::optional<LeasePin> pin(core::FileId file, std::uint32_t bits) = 0;
  // Asks for it when it is not held; at most one round trip, and none for a while after a refusal.
  virtual void want(const core::Credentials& cred, core::FileId file, std::uint32_t bits) = 0;
  // Regular files that the files lease of the directory covers with read caching, of which the size is known, and not
  // that `cred` may not read them. None when there is no such lease, or no listing under it. Never asks the server.
  virtual Listed listed(const core::Credentials& cred, core::FileId directory, const ListedWish& wish) = 0;
  // ListedWish::after for what comes behind the file; 0: it is not found, or the listing is too long to look.
  virtual std::uint64_t place_in_listing(core::FileId directory, core::FileId file) = 0;

 protected:
  ~LeaseCovers() = default;
};

// What is kept under leases. Called by threads of recalls, which hold no lock and serve no request; the lease has no
// pin then, and gets none with the bits that go.
class KeptUnderLeases {
 public:
  // Before write caching goes: all that is not yet at the server is written there under this lease and committed, of
  // `file`, or of all files of the lease when it is kNoFile. An error is that of the file's next fsync or close.
  virtual void write_back(const HeldLease& lease, core::FileId file) = 0;
  // Before read caching goes: content that was read is forgotten.
  virtual void forget(const HeldLease& lease, core::FileId file) = 0;
  // The lease is gone already: what was not written is lost. Each file that has some tells EIO at its next fsync or
  // close, once per open file.
  virtual void lose(const HeldLease& lease) = 0;

 protected:
  ~KeptUnderLeases() = default;
};

}  // namespace stoa::native

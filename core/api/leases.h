// Caching leases: state of a file or directory that a client may cache until the server recalls it.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

#include "core/api/ids.h"

namespace stoa::core {

// Terms of MS-SMB2 2.2.13.2.8. Write caching needs read caching.
enum LeaseBits : std::uint32_t {
  kLeaseNone = 0,
  kReadCaching = 1,    // no change by others: content and attributes may be cached
  kHandleCaching = 2,  // the file may be kept open after the user closed it: recalled before its name goes, and
                       // before an open is refused for a share mode of this holder
  kWriteCaching = 4,   // no access by others: writes and locks may be cached
  kAllCaching = 7,
};

enum class LeaseKind : std::uint8_t {
  // NFSv4: the client also opens the file by itself, so an open that might conflict with such opens recalls it. It is
  // returned as a whole.
  kDelegation,
  // SMB, native: only cached state counts; a reader's cache is recalled by the change itself, and other bits stay.
  kCache,
  // Native, of a directory: a cache of its names and attributes, and of attributes and content of all its files with a
  // single link. Files with more links are not covered: they have leases of their own.
  kFiles,
};

// The owner of a lease: its own opens and calls do not conflict with it.
struct LeaseOwner {
  HolderId holder = kNoHolder;
  LeaseKey key{};
  auto operator<=>(const LeaseOwner&) const = default;
};

struct LeaseRequest {
  std::uint32_t bits = kLeaseNone;  // LeaseBits
  LeaseKind kind = LeaseKind::kCache;
  bool reclaim = false;  // asked back after a restart, in grace
  bool operator==(const LeaseRequest&) const = default;
};

struct GrantedLease {
  LeaseId id{};
  std::uint32_t bits = kLeaseNone;
  bool operator==(const GrantedLease&) const = default;
};

// A recall that a request waits for (StateTable::when_clear).
struct RecallWait {
  FileId file = kNoFile;
  std::uint64_t number = 0;
  std::chrono::steady_clock::time_point lapses{};  // it hinders nothing from then on, and tells nothing of it
};

// What a request that meets a lease wants of the file.
enum class RecallReason : std::uint8_t {
  kLook,    // to read content, size or times: a write cache is in the way
  kChange,  // to change content or attributes
  kName,    // to give it another name, or none
};

// Times granted to a holder and its leases.
struct LeaseTerms {
  std::optional<std::chrono::milliseconds> recall_timeout{};  // empty: the volume's
  // How long it gets no new lease of a contended file, that is after a recall, by the reason of the recall.
  std::chrono::milliseconds pause_after_look{10'000};
  std::chrono::milliseconds pause_after_change{10'000};
  std::chrono::milliseconds pause_after_name_change{10'000};
};

}  // namespace stoa::core

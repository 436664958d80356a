// The complete state of a holder as values: a head asserts it to the next owner of a shard on behalf of its clients,
// which keep it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/api/ids.h"
#include "core/api/leases.h"
#include "core/api/lock_request.h"
#include "core/api/opened_name.h"

namespace stoa::core {

struct HolderState {
  struct Open {
    OpenId id{};
    FileId file{};
    std::uint32_t access = kShareNone, deny = kShareNone;  // ShareBits
    LeaseKey lease_key{};
    std::optional<OpenedName> name{};
    bool delete_on_close = false;
    std::optional<OpenedName> delete_pending{};  // of its file
    bool operator==(const Open&) const = default;
  };
  struct Lock {
    FileId file{};
    std::string owner;
    LockRange range;
    bool exclusive = false;
    bool operator==(const Lock&) const = default;
  };
  struct MandatoryLock {
    OpenId open{};
    LockRange range;
    bool exclusive = false;
    bool operator==(const MandatoryLock&) const = default;
  };
  struct Lease {
    LeaseId id{};
    FileId file{};
    LeaseKey key{};
    std::uint32_t bits = kLeaseNone;  // LeaseBits
    LeaseKind kind{};
    bool operator==(const Lease&) const = default;
  };
  std::vector<Open> opens{};
  std::vector<Lock> locks{};
  std::vector<MandatoryLock> mandatory_locks{};
  std::vector<Lease> leases{};
  bool operator==(const HolderState&) const = default;
};

}  // namespace stoa::core

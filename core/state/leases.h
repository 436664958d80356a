// The caching leases of one file: who has one, who was asked to return it, and whose time is over.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

using StateClock = std::chrono::steady_clock;

struct Lease {
  LeaseId id{};
  HolderId holder = kNoHolder;
  LeaseKind kind{};
  // Being granted: nobody knows of it yet, so whoever it would hinder takes it away (VolumeState::grant_lease).
  bool tentative = true;
  std::optional<StateClock::time_point> recalled{};
  bool revoked = false;  // noticed to be, and counted

  // A lease that is not returned in time hinders nobody any more; its holder has to be told.
  bool lapsed(StateClock::time_point now, StateClock::duration timeout) const {
    return revoked || (recalled && now - *recalled >= timeout);
  }
};

class Leases {
 public:
  bool empty() const { return leases_.empty(); }
  void add(const Lease& lease) { leases_.push_back(lease); }
  const Lease* find(LeaseId id) const;
  Lease* find(LeaseId id) { return const_cast<Lease*>(std::as_const(*this).find(id)); }
  // The holder's handle lease, or its other one.
  const Lease* of(HolderId holder, bool handle) const;
  // Taken out; nothing when it is not there.
  std::optional<Lease> remove(LeaseId id);
  template <class Visit>
  void each(Visit visit) {
    for (Lease& lease : leases_) visit(lease);
  }
  template <class Visit>
  void each(Visit visit) const {
    for (const Lease& lease : leases_) visit(lease);
  }

 private:
  std::vector<Lease> leases_;  // few: a write lease is alone, and readers of one file that all cache it are not many
};

}  // namespace stoa::core

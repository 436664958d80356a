// The caching leases of one file: held, recalled to a level, or lapsed.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

using StateClock = std::chrono::steady_clock;

struct Lease {
  LeaseId id{};
  LeaseOwner owner;
  std::uint32_t bits = kLeaseNone;
  LeaseKind kind{};
  StateClock::duration recall_timeout{};
  // Being granted: its holder does not know of it yet, so a conflicting change removes it
  // (VolumeState::grant_lease).
  bool tentative = true;
  std::optional<StateClock::time_point> recalled{};
  std::uint32_t keeps = kLeaseNone;  // of a recalled one: the bits that remain
  bool revoked = false;              // noticed to be, and counted

  Modes modes() const { return modes_of_lease(bits, kind); }
  // A lease that is not returned in time conflicts with nothing any more; its client has to be told.
  bool lapsed(StateClock::time_point now) const { return revoked || (recalled && now - *recalled >= recall_timeout); }
  bool awaited(StateClock::time_point now) const { return recalled && !lapsed(now); }
};

class Leases {
 public:
  bool empty() const { return leases_.empty(); }
  void add(const Lease& lease);
  const Lease* find(LeaseId id) const;
  Lease* find(LeaseId id) { return const_cast<Lease*>(std::as_const(*this).find(id)); }
  Lease* of(const LeaseOwner& owner);
  // The lapse of the last pending recall; empty when there is none.
  std::optional<StateClock::time_point> awaited_until(StateClock::time_point now) const;
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
  std::vector<Lease> leases_;  // few: write caching is alone, and readers of one file that all cache it are not many
};

}  // namespace stoa::core

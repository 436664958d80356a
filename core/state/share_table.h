// The opens of one file, counted by lease owner and by mode: conflicts are found without a look at each open.
#pragma once

#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

class ShareTable {
 public:
  void add(const LeaseOwner& owner, Modes open);
  void remove(const LeaseOwner& owner, Modes open);
  bool empty() const { return all_.opens == 0; }
  // The modes of all opens together.
  Modes modes() const { return all_.modes(); }
  Modes modes_without(Modes one) const;  // of all but one of the opens, which has these
  Modes modes_of(const LeaseOwner& owner) const;
  Modes modes_of_others(const LeaseOwner& owner) const;
  // Visits each holder with its number of opens, and their modes together.
  template <class Visit>
  void each(Visit visit) const {
    for (auto at = owners_.begin(); at != owners_.end();) {
      const HolderId holder = at->owner.holder;
      std::uint32_t opens = 0;
      Modes modes = 0;
      for (; at != owners_.end() && at->owner.holder == holder; ++at) {
        opens += at->counts.opens;
        modes |= at->counts.modes();
      }
      visit(holder, opens, modes);
    }
  }

 private:
  struct Counts {
    std::uint32_t opens = 0;
    std::array<std::uint32_t, kOpenModeCount> of{};  // by number of the mode
    void add(Modes open, std::uint32_t delta);
    Modes modes() const;
  };
  struct Entry {
    LeaseOwner owner;
    Counts counts;
  };
  Counts all_;
  std::vector<Entry> owners_;  // in order
};

}  // namespace stoa::core

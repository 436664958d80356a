// The opens of one file, counted by owner of leases and by facet: conflicts are found without a look at each open.
#pragma once

#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

class ShareTable {
 public:
  void add(const LeaseOwner& owner, Facets open);
  void remove(const LeaseOwner& owner, Facets open);
  bool empty() const { return all_.opens == 0; }
  // What all opens have together.
  Facets facets() const { return all_.facets(); }
  Facets facets_without(Facets one) const;  // of all but one of the opens, which has these
  Facets facets_of(const LeaseOwner& owner) const;
  Facets facets_of_others(const LeaseOwner& owner) const;
  // Each holder, how many opens it has, and what they have together.
  template <class Visit>
  void each(Visit visit) const {
    for (auto at = owners_.begin(); at != owners_.end();) {
      const HolderId holder = at->owner.holder;
      std::uint32_t opens = 0;
      Facets facets = 0;
      for (; at != owners_.end() && at->owner.holder == holder; ++at) {
        opens += at->counts.opens;
        facets |= at->counts.facets();
      }
      visit(holder, opens, facets);
    }
  }

 private:
  struct Counts {
    std::uint32_t opens = 0;
    std::array<std::uint32_t, kOpenFacetCount> of{};  // by number of the facet
    void add(Facets open, std::uint32_t delta);
    Facets facets() const;
  };
  struct Entry {
    LeaseOwner owner;
    Counts counts;
  };
  Counts all_;
  std::vector<Entry> owners_;  // in order
};

}  // namespace stoa::core

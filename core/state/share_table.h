// The opens of one file, counted by holder and by facet: conflicts are found without a look at each open.
#pragma once

#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

class ShareTable {
 public:
  void add(HolderId holder, Facets open);
  void remove(HolderId holder, Facets open);
  bool empty() const { return all_.opens == 0; }
  // What all opens have, of everybody; and of everybody but `holder`.
  Facets facets() const { return all_.facets(); }
  Facets facets_without(Facets one) const;  // of all but one of the opens, which has these
  Facets facets_of(HolderId holder) const;
  Facets facets_of_others(HolderId holder) const;
  // Each holder, how many opens it has, and what they have together.
  template <class Visit>
  void each(Visit visit) const {
    for (const Entry& entry : holders_) visit(entry.holder, entry.counts.opens, entry.counts.facets());
  }

 private:
  struct Counts {
    std::uint32_t opens = 0;
    std::array<std::uint32_t, 4> of{};  // by number of the facet
    void add(Facets open, std::uint32_t delta);
    Facets facets() const;
  };
  struct Entry {
    HolderId holder;
    Counts counts;
  };
  Counts all_;
  std::vector<Entry> holders_;  // by holder
};

}  // namespace stoa::core

// The unreadable keys of the metadata, so that records missing for that reason are not called wrong.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kv/damaged_walk.h"

namespace stoa::core {

class DamageMap {
 public:
  // False: it is a duplicate (a family may be scanned twice).
  bool add(Family family, const KeyGap& gap);
  bool unreadable(Family family, std::string_view key) const;
  // Whether all of them could be read.
  bool whole(std::initializer_list<Family> families) const;

  // The numbers of the first unreadable record and of the first readable one behind them. Both empty: keys of the
  // family are texts; the second empty: nothing can be read from there on.
  static std::pair<std::string, std::string> numbers(Family family, const KeyGap& gap);

 private:
  std::map<Family, std::vector<KeyGap>> gaps_;
};

}  // namespace stoa::core

#include "frontends/admin/fact_text.h"

#include <algorithm>

namespace stoa::admin {

Facts facts_of(const std::vector<std::string_view>& names, const std::vector<std::string>& values) {
  Facts facts;
  for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) facts.emplace(names[i], values[i]);
  return facts;
}

std::string_view fact_of(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

std::string filled(std::string_view sentence, const Facts& facts) {
  std::string out;
  for (std::string_view rest = sentence; !rest.empty();) {
    const std::size_t begin = rest.find('{');
    out += rest.substr(0, begin);
    const std::size_t end = rest.find('}', begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) break;
    out += fact_of(facts, rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace stoa::admin

#include "core/api/fact_names.h"

namespace stoa::core {

std::vector<std::string_view> fact_names(std::string_view list) {
  std::vector<std::string_view> names;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t end = rest.find(' ');
    names.push_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return names;
}

}  // namespace stoa::core

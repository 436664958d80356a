// Names of the facts of an event or a finding, as their lists (events.def, findings.def) have them.
#pragma once

#include <string_view>
#include <vector>

namespace stoa::core {

// "inode bytes": inode, bytes. The names are parts of `list`.
std::vector<std::string_view> fact_names(std::string_view list);

}  // namespace stoa::core

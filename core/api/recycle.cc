#include "core/api/recycle.h"

#include <charconv>

namespace stoa::core {

RecycleTable::RecycleTable(const std::vector<RecyclePolicy>& policies, const std::vector<FileId>& export_roots)
    : roots_(export_roots.begin(), export_roots.end()) {
  for (const RecyclePolicy& policy : policies) policies_.emplace(policy.dir, policy);
}

const RecyclePolicy* RecycleTable::find(FileId dir) const {
  const auto it = policies_.find(dir);
  return it == policies_.end() ? nullptr : &it->second;
}

std::string to_string(const RecycleItemId& item) {
  return std::to_string(static_cast<std::uint64_t>(item.bin)) + "-" + std::to_string(item.serial);
}

Result<RecycleItemId> parse_recycle_item(std::string_view text) {
  std::uint64_t bin = 0, serial = 0;
  const char* const end = text.data() + text.size();
  const auto [dash, first] = std::from_chars(text.data(), end, bin);
  if (first == std::errc{} && dash != end && *dash == '-') {
    const auto [rest, second] = std::from_chars(dash + 1, end, serial);
    if (second == std::errc{} && rest == end) return RecycleItemId{FileId{bin}, serial};
  }
  return fail(Cause::kItemForm);
}

}  // namespace stoa::core

#include "core/verify/damage_map.h"

#include <algorithm>

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// Whether keys of the family begin with a number; the others are texts.
bool has_numbers(Family family) {
  switch (family) {
    case Family::kInode:
    case Family::kInline:
    case Family::kEntry:
    case Family::kCookie:
    case Family::kXattr:
    case Family::kLink:
    case Family::kUsage:
    case Family::kBlob:
    case Family::kChecksum:
    case Family::kJournal:
    case Family::kGc:
      return true;
    default:
      return false;
  }
}

std::uint64_t first_number(std::string key) {
  key.resize(8);
  return keys::read_be64(key);
}

}  // namespace

bool DamageMap::add(Family family, const KeyGap& gap) {
  auto& known = gaps_[family];
  const auto same = [&](const KeyGap& other) { return other.from == gap.from && other.to == gap.to; };
  if (std::ranges::any_of(known, same)) return false;
  known.push_back(gap);
  return true;
}

bool DamageMap::unreadable(Family family, std::string_view key) const {
  const auto found = gaps_.find(family);
  if (found == gaps_.end()) return false;
  return std::ranges::any_of(found->second,
                             [&](const auto& gap) { return key >= gap.from && (gap.to.empty() || key < gap.to); });
}

bool DamageMap::whole(std::initializer_list<Family> families) const {
  return std::ranges::none_of(families, [&](Family family) { return gaps_.contains(family); });
}

std::pair<std::string, std::string> DamageMap::numbers(Family family, const KeyGap& gap) {
  if (!has_numbers(family)) return {};
  return {std::to_string(first_number(gap.from)),
          gap.to.empty() ? std::string() : std::to_string(first_number(gap.to))};
}

}  // namespace stoa::core

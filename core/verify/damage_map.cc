#include "core/verify/damage_map.h"

#include <algorithm>

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// The objects that the first part of a family's keys numbers; empty: the keys are texts.
std::string_view records_of(Family family) {
  switch (family) {
    case Family::kInode:
      return "records of inodes";
    case Family::kInline:
      return "inline content of inodes";
    case Family::kEntry:
      return "names in directories of inodes";
    case Family::kCookie:
      return "listings of directories of inodes";
    case Family::kXattr:
      return "extended attributes of inodes";
    case Family::kLink:
      return "links of inodes";
    case Family::kUsage:
      return "usage of directories of inodes";
    case Family::kBlob:
      return "records of blobs";
    case Family::kChecksum:
      return "checksums of blobs";
    case Family::kJournal:
      return "changes in the journal, numbers";
    case Family::kGc:
      return "blobs to be freed";
    default:
      return {};
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

std::string DamageMap::describe(Family family, const KeyGap& gap) {
  const std::string_view what = records_of(family);
  if (what.empty()) return "metadata of family " + std::string(to_string(family)) + " cannot be read in part";
  std::string text(what);
  text += " from " + std::to_string(first_number(gap.from));
  text += gap.to.empty() ? " on" : " up to " + std::to_string(first_number(gap.to));
  return text + " cannot be read";
}

}  // namespace stoa::core

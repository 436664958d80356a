#include "frontends/admin/free_number.h"

#include <algorithm>
#include <unordered_set>

namespace stoa::admin {
namespace {

constexpr std::uint32_t kFirst = 1000;
constexpr std::uint32_t kEnd = 60'000;

bool is_group_of_others(const core::RegistrySnapshot& registry, std::uint32_t number) {
  return registry.find_group_by_gid(number) != nullptr ||
         std::ranges::any_of(registry.users(), [number](const core::User& user) {
           return user.uid != number && user.credentials().in_group(number);
         });
}

}  // namespace

Result<std::uint32_t> free_number(const core::RegistrySnapshot& registry) {
  // One look at all of them: there may be 100 000 users.
  std::unordered_set<std::uint32_t> taken;
  for (const core::User& user : registry.users()) {
    taken.insert({user.uid, user.gid});
    taken.insert(user.groups.begin(), user.groups.end());
  }
  for (const core::Group& group : registry.groups()) taken.insert(group.gid);
  for (std::uint32_t number = kFirst; number < kEnd; ++number) {
    if (!taken.contains(number)) return number;
  }
  return fail(Cause::kNoFreeNumber);
}

Result<std::uint32_t> own_group_of(const core::RegistrySnapshot& registry, std::uint32_t uid) {
  if (!is_group_of_others(registry, uid)) return uid;
  return free_number(registry);
}

}  // namespace stoa::admin

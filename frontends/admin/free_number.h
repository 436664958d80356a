// Numbers for new users and groups.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "core/api/registry.h"

namespace stoa::admin {

// The first free number from 1000 on, for a user and the user's own group alike: no uid, no number of a named group,
// and no group of any user. So a new user or group inherits no rights. kInvalid: there is none.
Result<std::uint32_t> free_number(const core::RegistrySnapshot& registry);

// The group of a user given by uid only: the one of that number, unless it is already a group of others; then a free
// one.
Result<std::uint32_t> own_group_of(const core::RegistrySnapshot& registry, std::uint32_t uid);

}  // namespace stoa::admin

// Numbers for new users and groups.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "core/api/registry.h"

namespace stoa::admin {

// The first from 1000 on that is nobody's, for a user and the user's own group alike: neither a uid, nor the number of
// a group that has a name or that any user is in. So it gives nobody's rights to whoever gets it. kInvalid: there is
// none.
Result<std::uint32_t> free_number(const core::RegistrySnapshot& registry);

// The group of a user of whom only the uid is given: the one of that number, unless it is already a group of others;
// then a free one.
Result<std::uint32_t> own_group_of(const core::RegistrySnapshot& registry, std::uint32_t uid);

}  // namespace stoa::admin

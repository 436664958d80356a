// The caller.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/api/context.h"

namespace stoa::core::test {

// Without a group: that of the same number.
inline OpContext user(std::uint32_t uid, std::optional<std::uint32_t> gid = {},
                      std::vector<std::uint32_t> groups = {}) {
  return {.cred = {.uid = uid, .gid = gid.value_or(uid), .groups = std::move(groups)}};
}

}  // namespace stoa::core::test

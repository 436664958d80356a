// Security identifiers of NT, as text: "S-1-5-21-1004336348-1177238915-682003330-2000" (MS-DTYP 2.4.2.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::core {

inline constexpr std::size_t kSidPartsMax = 15;  // SubAuthorityCount

// x, y and z of the volume's own domain S-1-5-21-x-y-z.
using SidDomain = std::array<std::uint32_t, 3>;
SidDomain make_sid_domain();

// kInvalid unless it is written in the one way that is compared byte by byte: decimal, no leading zeros.
Status check_sid(std::string_view text);

// RegistrySnapshot::sid_of() tells the rule.
std::string automatic_user_sid(const SidDomain& domain, std::uint32_t uid);
std::string automatic_group_sid(const SidDomain& domain, std::uint32_t gid);

}  // namespace stoa::core

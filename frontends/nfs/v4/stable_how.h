// stable_how4 (RFC 8881 18.32.1)
#pragma once

#include <cstdint>

namespace stoa::nfs4 {

enum class StableHow : std::uint32_t { kUnstable = 0, kDataSync = 1, kFileSync = 2 };

}  // namespace stoa::nfs4

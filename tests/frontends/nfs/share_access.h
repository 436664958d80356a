// OPEN4_SHARE_ACCESS_* and OPEN4_SHARE_DENY_* (RFC 8881 18.16.1), and NFS4_UINT64_MAX as the length of a lock
// (18.10.1).
#pragma once

#include <cstdint>

namespace stoa::test {

constexpr std::uint32_t kOpenRead = 1, kOpenWrite = 2, kOpenBoth = 3;
constexpr std::uint64_t kToEnd = ~std::uint64_t{0};

}  // namespace stoa::test

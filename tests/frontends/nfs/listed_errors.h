// The errors that each operation may return: RFC 7530 13.2, RFC 8881 15.2, RFC 7862 11.2, RFC 8276
// 8.5.
#pragma once

#include <cstdint>

#include "frontends/nfs/v4/status.h"

namespace stoa::test {

bool is_listed(std::uint32_t minor, std::uint32_t operation, nfs4::Nfs4Status status);

}  // namespace stoa::test

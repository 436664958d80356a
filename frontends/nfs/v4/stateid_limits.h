// How many stateids clients may have: of opens, of lock owners with a file, of delegations. That is this server's
// memory; the core has limits of its own for what stands behind them (core/state/state_table.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::nfs4 {

struct StateidLimits {
  std::size_t of_client = 200'000;
  std::int64_t of_peer = 500'000;  // the clients of one address together
};

}  // namespace stoa::nfs4

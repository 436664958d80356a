// Limits of the stateids of clients: of opens, of lock owners with a file, of delegations. They bound this
// server's memory; the core has limits of its own for the state behind them (core/state/state_table.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::nfs4 {

struct StateidLimits {
  std::size_t of_client = 200'000;
  std::int64_t of_peer = 500'000;  // the clients of one address together
};

}  // namespace stoa::nfs4

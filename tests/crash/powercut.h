// Simulation of a power cut on a folder, by the journal of powercut_preload.c.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace stoa::crash {

enum class PowerCut : std::uint8_t {
  kNothing,     // all reached the disk; only empties the journal
  kEverything,  // no unsynced data reached the disk
  kRandom,      // any 4 KiB block may be in any state since the last sync, names in their order up to a random moment
};

struct PowerCutReport {
  std::uint64_t files = 0;   // files that lost something
  std::uint64_t blocks = 0;  // ranges that were put back
  std::uint64_t names = 0;   // changes of directories that were taken back
};

// Prepares `journal` (made when absent) for a run of a server.
Status prepare_power_cut(const std::string& journal);

// Rolls back the folders `roots` (':' between them). The processes that wrote there must be dead. Leaves the journal
// empty.
Result<PowerCutReport> cut_power(const std::string& roots, const std::string& journal, PowerCut how,
                                 std::uint64_t seed);

}  // namespace stoa::crash

// State of the metadata folder, found without opening the database.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace stoa::appliance {

enum class MetadataState : std::uint8_t { kNone, kThere };

// Errors: kCorrupt when there are files of a database, but no valid one; the text has the remedy. Changes
// nothing.
Result<MetadataState> look_at_metadata(const std::string& path);

}  // namespace stoa::appliance

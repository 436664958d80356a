// What lies where the metadata belong, seen without opening them.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace stoa::appliance {

enum class MetadataState : std::uint8_t { kNone, kThere };

// kCorrupt: there are files of a database, and it cannot be one; the words say what to do. Changes nothing.
Result<MetadataState> look_at_metadata(const std::string& path);

}  // namespace stoa::appliance

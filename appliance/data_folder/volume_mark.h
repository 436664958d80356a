// DATA/volume: that a volume was made here. Missing pieces are then never made anew: missing metadata mean a disk that
// is not mounted, or lost.
#pragma once

#include <optional>
#include <string>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::appliance {

struct VolumeMark {
  std::string id;  // empty: it was begun and never finished, so nothing was ever stored in it
};

// Absent: none was made. kCorrupt.
Result<std::optional<VolumeMark>> read_volume_mark(const DataFolder& folder);
// Durable on return.
Status write_volume_mark(const DataFolder& folder, const VolumeMark& mark);

}  // namespace stoa::appliance

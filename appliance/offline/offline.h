// Work on a data folder without a daemon: make a volume, verify it, free blobs that a start has kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"
#include "core/blob/kept_blobs.h"
#include "core/volume/volume.h"

namespace stoa::appliance {

// Makes an empty volume and returns the folder's absolute path. `config_path` may be empty. Errors: kExists when
// there is one; kBusy: a stoad runs there.
Result<std::string> create_volume(const DataFolder& folder, const std::string& config_path, const std::string& name);

using CheckProgress = void (*)(std::uint64_t done, std::uint64_t total);
// Verifies the whole volume; one too damaged to be opened is read as far as possible. Errors: kNotFound when there is
// none; kBusy: a stoad runs there.
Result<core::CheckReport> check_offline(const DataFolder& folder, const std::string& config_path, bool read_data,
                                        CheckProgress progress);

// Frees all blobs that no file refers to, in any number. Returns those freed. kNotFound, kBusy.
Result<core::KeptBlobs> sweep_volume(const DataFolder& folder, const std::string& config_path);

}  // namespace stoa::appliance

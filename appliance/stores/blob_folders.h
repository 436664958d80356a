// DATA/blob_directories: which folders hold content, one a line, so that commands without a configuration find them.
// Those below the data folder by their names in it: it may be moved or copied.
#pragma once

#include <string>
#include <vector>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::appliance {

// Empty when the folder is new.
Result<std::vector<std::string>> load_blob_folders(const DataFolder& folder);
// Nothing is written when the list is unchanged.
Status save_blob_folders(const DataFolder& folder, const std::vector<std::string>& folders);

}  // namespace stoa::appliance

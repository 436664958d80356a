// DATA/blob_directories: which folders hold content, one a line, so that commands without a configuration find them.
#pragma once

#include <string>
#include <vector>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::appliance {

// Empty when the folder is new.
Result<std::vector<std::string>> load_blob_folders(const DataFolder& folder);
Status save_blob_folders(const DataFolder& folder, const std::vector<std::string>& folders);

}  // namespace stoa::appliance

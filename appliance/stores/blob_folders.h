// DATA/blob_directories: which folders hold content, one a line, as the last start had them.
#pragma once

#include <string>
#include <vector>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::appliance {

// Empty when the folder is new.
Result<std::vector<std::string>> load_blob_folders(const DataFolder& folder);

// Checks that every remembered folder is among `wanted`, at its old place in the order, and remembers the new ones.
// kInvalid names the one that is missing: without it files would have lost their content.
Status settle_blob_folders(const DataFolder& folder, const std::vector<std::string>& wanted);

}  // namespace stoa::appliance

// Identification of the data directories when a store opens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/blob/local/data_directory.h"
#include "backends/blob/local/local_blob_store.h"

namespace stoa::blob_local {

// In the order of their index. Errors: LocalBlobStore::open.
Result<std::vector<std::unique_ptr<DataDirectory>>> open_directories(const LocalBlobStoreOptions& options);

// LocalBlobStore::require_new.
Status require_new_directories(const std::vector<std::string>& directories);

}  // namespace stoa::blob_local

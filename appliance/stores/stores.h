// The stores under a volume, opened as the configuration says.
#pragma once

#include <memory>
#include <string>

#include "appliance/config/config.h"
#include "appliance/data_folder/data_folder.h"
#include "base/error.h"
#include "base/metrics.h"
#include "core/data/blob_store.h"
#include "core/kv/kv_store.h"
#include "core/volume/volume.h"

namespace stoa::appliance {

// The volume on them must be closed before.
struct Stores {
  std::unique_ptr<core::KvStore> kv;
  std::unique_ptr<core::BlobStore> blobs;
};

// Makes folders that are missing. kNotFound without `create` when there is no volume in the folder; kInvalid: a blob
// directory that was used before is missing from the configuration.
Result<Stores> open_stores(const Config& config, const DataFolder& folder, MetricRegistry& metrics, bool create);

core::VolumeOptions volume_options(const Config& config);

// The configuration for commands that work without a daemon: the file (may be empty) and the blob directories that the
// data folder remembers.
Result<Config> offline_config(const DataFolder& folder, const std::string& config_path);

}  // namespace stoa::appliance

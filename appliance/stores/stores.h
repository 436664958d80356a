// The stores under a volume, opened by the configuration.
#pragma once

#include <memory>
#include <string>

#include "appliance/config/config.h"
#include "appliance/data_folder/data_folder.h"
#include "base/error.h"
#include "base/metrics.h"
#include "core/blob/blob_store.h"
#include "core/kv/kv_store.h"
#include "core/volume/volume.h"

namespace stoa::appliance {

// The volume on them must be closed before.
struct Stores {
  std::unique_ptr<core::KvStore> kv;
  std::unique_ptr<core::BlobStore> blobs;
  bool made = false;  // an empty volume, just now
};

struct OpenStores {
  std::string new_volume{};  // its name, to make one where everything is empty; empty: there must be one
  bool sweep_all = false;    // blobs that nothing names go, however many they are
  bool damaged = false;      // read only, as much as can be read: for the verifier
};

// Opens the stores of one volume, whose pieces (metadata, blob directories) must belong together and be of one time.
// Otherwise refuses, and changes nothing. Errors: kNotFound when the folder has no volume, and none is to be made;
// kInvalid: the pieces do not belong together; kCorrupt: one is damaged; kBusy: another process has one.
Result<Stores> open_stores(const Config& config, const DataFolder& folder, MetricRegistry& metrics,
                           const OpenStores& options);

core::VolumeOptions volume_options(const Config& config);

// The configuration for commands that work without a daemon: the file (may be empty) and the blob directories recorded
// in the data folder.
Result<Config> offline_config(const DataFolder& folder, const std::string& config_path);

}  // namespace stoa::appliance

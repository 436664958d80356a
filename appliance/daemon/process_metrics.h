// Metrics of the process, the metadata engine and the disks, read at each scrape.
#pragma once

#include <string>

#include "base/metrics.h"
#include "core/blob/blob_store.h"
#include "core/kv/kv_store.h"
#include "core/volume/volume.h"

namespace stoa::appliance {

void register_process_metrics(MetricRegistry& metrics, const std::string& version);
// `kv` and `blobs` must outlive the last scrape.
void register_store_metrics(MetricRegistry& metrics, core::KvStore& kv, core::BlobStore& blobs);

}  // namespace stoa::appliance

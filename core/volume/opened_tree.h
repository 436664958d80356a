// A VolumeContext with what the floors above it add: the state of the data path, and the look of the table of opens at
// files.
#pragma once

#include <memory>

#include "core/data/data_state.h"
#include "core/txn/volume_context.h"
#include "core/volume/watch_files.h"

namespace stoa::core {

struct OpenedTree {
  OpenedTree(KvStore& kv, BlobStore& blobs, MetricRegistry& metrics, const VolumeOptions& options,
             std::uint64_t next_journal, FileId next_id)
      : data(metrics),
        watch(watch_files(volume)),
        volume(kv, blobs, metrics, options, next_journal, next_id, data, *watch) {}

  DataState data;
  std::unique_ptr<FileWatch> watch;
  VolumeContext volume;
};

}  // namespace stoa::core

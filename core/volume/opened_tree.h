// A VolumeContext with additions of the floors above it: the state of the data path, and the file access of the table
// of opens.
#pragma once

#include <memory>

#include "core/data/data_state.h"
#include "core/head/head.h"
#include "core/txn/volume_context.h"
#include "core/volume/watch_files.h"

namespace stoa::core {

struct OpenedTree {
  OpenedTree(KvStore& kv, BlobStore& blobs, MetricRegistry& all_metrics, const VolumeOptions& options,
             std::uint64_t next_journal, FileId next_id)
      : own_head(options.head == nullptr ? std::make_unique<Head>(all_metrics) : nullptr),
        head(options.head != nullptr ? *options.head : *own_head),
        metrics(all_metrics, options.metric_labels),
        data(metrics),
        watch(watch_files(volume)),
        volume(kv, blobs, metrics, options, next_journal, next_id, head.events, data, *watch) {}
  ~OpenedTree() { metrics.drop_callbacks(); }
  OpenedTree(const OpenedTree&) = delete;
  OpenedTree& operator=(const OpenedTree&) = delete;

  const std::unique_ptr<Head> own_head;
  Head& head;
  MetricRegistry metrics;  // of this volume
  DataState data;
  std::unique_ptr<FileWatch> watch;
  VolumeContext volume;
};

}  // namespace stoa::core

// A volume in memory for fuzz targets. To build one takes ten times as long as most inputs, so it is kept for many of
// them. But each finds an export "e" of its own, with a tree unused before, so that it has the same effect alone, too.
// Servers are made anew for every input, and take their clients with them.
#pragma once

#include <array>
#include <optional>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "base/metrics.h"
#include "core/volume/volume.h"
#include "frontends/nfs/export_access.h"

namespace stoa::test {

class KeptVolume {
 public:
  // For the next input.
  static KeptVolume& next();

  core::Volume& volume() { return *volume_; }
  core::Namespace& ns() { return volume_->ns(); }
  MetricRegistry& metrics() { return metrics_; }
  nfs::ExportAccess& access() { return *access_; }
  core::FileId root() const { return root_.id; }
  core::HandleBytes root_handle() const { return handle_of(root_); }
  core::HandleBytes handle_of(const core::Attributes& attr) const;

 private:
  KeptVolume();
  bool worn_out();
  void make_export();

  MetricRegistry metrics_;
  kv::MemoryKv kv_;
  blob::MemoryBlobs blobs_;
  std::unique_ptr<core::Volume> volume_;
  std::optional<nfs::ExportAccess> access_;
  std::uint32_t inputs_ = 0;
  core::Attributes root_{};
};

}  // namespace stoa::test

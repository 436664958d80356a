// Options for opening a volume.
#pragma once

#include <cstdint>

#include "base/fault_plan.h"
#include "base/metrics.h"
#include "base/time_source.h"

namespace stoa::core {

class Head;

struct VolumeOptions {
  std::uint32_t inline_bytes_max = 16384;     // files up to this size live in the metadata
  std::uint64_t cached_inodes_max = 100'000;  // bounds the memory of the inode and name caches
  std::uint32_t lazy_attributes_ms = 5000;    // sizes and times of unstable writes reach the store within this time
  std::uint32_t scrub_bytes_per_second = 32u << 20;  // background checksum verification; 0: off
  std::uint32_t lease_recall_timeout_ms = 90'000;    // a caching lease that is not returned in time is revoked
  std::uint32_t grace_ms = 90'000;                   // grace time of a start for clients that held state before it
  Head* head = nullptr;    // shared by the volumes of the process; null: this one has a head of its own
  Labels metric_labels{};  // of all metrics of the volume; two volumes of one process have different ones
  const TimeSource* time = &kSystemTime;  // must outlive the volume
  FaultPlan* faults = nullptr;            // of a test: points of failure (base/fault_plan.h)
  bool background = true;  // gc, scrub and the lazy flush run by themselves; tests switch it off and call run_*()
};

}  // namespace stoa::core

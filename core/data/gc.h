// Background work on data: the gc queue, lazy attributes, checksums of quiet files, scrubbing.
#pragma once

#include "core/txn/volume_context.h"
#include "qos/background_throttle.h"

namespace stoa::core {

// With a throttle, each of these gives way to requests, and ends early when it is stopped; without, it goes as fast as
// it can. Frees every unused blob of the gc queue; none before adoption is over. Blocks for the disk.
Status collect_garbage(VolumeContext& volume, qos::BackgroundThrottle* throttle = nullptr);
// Syncs and commits writes made without a promise of durability. Applied; durable with the next sync of the store. Does
// not end early.
Status flush_lazy(VolumeContext& volume, qos::BackgroundThrottle* throttle = nullptr);
// Records the checksums of files that were not written for so long; with a throttle, also at the configured rate of a
// scrub.
Status record_sums_of_quiet_files(VolumeContext& volume, std::int64_t quiet_ns,
                                  qos::BackgroundThrottle* throttle = nullptr);
inline constexpr std::int64_t kQuietNs = 30'000'000'000;
// Verifies every recorded checksum once; damage goes to the log and to DataState::damage(). With a throttle, also at
// the configured rate.
Status scrub_all(VolumeContext& volume, qos::BackgroundThrottle* throttle = nullptr);
// An event for each file in which damage was found since the last call.
void tell_damage(VolumeContext& volume);

}  // namespace stoa::core

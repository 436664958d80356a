// Purging of items from the bins.
#pragma once

#include "base/clock.h"
#include "core/api/recycle.h"
#include "core/txn/volume_context.h"
#include "qos/background_throttle.h"

namespace stoa::core {

// Background work, one bounded step: purges items that are older at `now` than their policy allows, the oldest first,
// and those over the cap of their bin. Bins become counted by their policies, when there is room; bins without a policy
// go when they are empty. Behind each bin it waits as `throttle` requires (null: not at all), and ends when that is
// stopped.
Status age_bins(VolumeContext& volume, Timestamp now, qos::BackgroundThrottle* throttle = nullptr);

// A bin with nothing in it goes, so that its directory can go, too. No lock is held. Does nothing when there is none,
// or something is in it.
Status discard_empty_bin(VolumeContext& volume, const OpContext& caller, const NodeRef& recycle_root);

}  // namespace stoa::core

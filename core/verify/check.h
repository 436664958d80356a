// The verifier: recounts usage and follows every name, link, layout and blob reference.
#pragma once

#include "core/txn/volume_context.h"
#include "core/verify/check_report.h"

namespace stoa::core {

Result<CheckReport> check_volume(VolumeContext& volume, const CheckOptions& options);

}  // namespace stoa::core

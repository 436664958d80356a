// The verifier: recounts usage and follows every name, link, layout and blob reference.
#pragma once

#include "core/txn/tree.h"
#include "core/verify/check_report.h"

namespace stoa::core {

Result<CheckReport> check_volume(Tree& tree, const CheckOptions& options);

}  // namespace stoa::core

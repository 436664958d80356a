// Where caching leases meet changes: every mutating operation asks here before it changes anything ("break before
// mutate"), with no lock held. The table of opens, locks and leases plugs in behind this interface; a volume without one
// has nothing to break.
#pragma once

#include <span>

#include "base/error.h"
#include "core/api/context.h"

namespace stoa::core {

class LeaseGate {
 public:
  virtual ~LeaseGate() = default;
  // kRecallPending: a conflicting lease is being recalled; the door parks the request and tries again.
  virtual Status before_mutate(const OpContext& ctx, std::span<const FileId> files) = 0;
};

}  // namespace stoa::core

// The flows of the directories above a file. Contract: core/api/namespace.h.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

class FlowTable;

Status find_flows(const VolumeView&, FileId file, const FlowTable& table, std::vector<qos::Flow*>& found);

}  // namespace stoa::core

// The QoS classes of the directories above a file. Contract: core/api/namespace.h.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

class QosTable;

Status find_qos_classes(const VolumeView&, const OpContext&, FileId file, const QosTable& table,
                        std::vector<qos::QosClass*>& found);

}  // namespace stoa::core

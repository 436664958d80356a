// The server of the native protocol as the daemon sees it.
#pragma once

#include "appliance/daemon/host_key_file.h"
#include "appliance/daemon/protocol.h"

namespace stoa::appliance {

Result<std::unique_ptr<Protocol>> open_native_protocol(const Config& config, core::Volume& volume,
                                                       const HostKeyFile& host_keys, MetricRegistry& metrics);

}  // namespace stoa::appliance

// The server of a protocol as the daemon sees it: opened, queried, reloaded, closed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "appliance/config/config.h"
#include "base/error.h"
#include "base/metrics.h"
#include "core/volume/volume.h"
#include "frontends/admin/service.h"

namespace stoa::appliance {

// Open from construction; the destructor lets running requests end, then closes.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::string name() const = 0;     // "nfs"
  virtual std::string address() const = 0;  // "127.0.0.1:2049", "http://127.0.0.1:9000"
  // The MOUNT port of NFS.
  virtual std::string mount_address() const { return {}; }
  // For servers that keep state for clients; as in admin::Service.
  virtual std::vector<admin::ClientStatus> clients() const { return {}; }
  virtual Status evict_client(std::uint64_t) { return fail(Errc::kNotFound); }
  // Applies the settings that may change while it is open (certificates). The old stays on error.
  virtual Status reload(const Config&) { return {}; }
};

using ProtocolOpener = Result<std::unique_ptr<Protocol>> (*)(const Config& config, core::Volume& volume,
                                                             MetricRegistry& metrics);

Result<std::unique_ptr<Protocol>> open_nfs_protocol(const Config& config, core::Volume& volume,
                                                    MetricRegistry& metrics);
Result<std::unique_ptr<Protocol>> open_s3_protocol(const Config& config, core::Volume& volume, MetricRegistry& metrics);

}  // namespace stoa::appliance

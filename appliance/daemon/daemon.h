// stoad: the stores, the volume and the servers of one data folder, from start to graceful stop.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "appliance/audit/audit_writer.h"
#include "appliance/daemon/config_source.h"
#include "appliance/daemon/host_key_file.h"
#include "appliance/daemon/notifier.h"
#include "appliance/daemon/protocol.h"
#include "appliance/data_folder/folder_lock.h"
#include "appliance/stores/stores.h"
#include "base/error.h"
#include "base/metrics.h"
#include "core/head/head.h"
#include "frontends/admin/admin_server.h"

namespace stoa::appliance {

// One thread calls everything here. Members are destroyed bottom-up: servers before the volume, the volume before its
// stores, the lock last.
class Daemon {
 public:
  // The volume is open when it returns, and nothing is served yet. The errors are sentences for people. `console` must
  // outlive it.
  static Result<std::unique_ptr<Daemon>> start(const ConfigSource& source, const Config& config,
                                               const DataFolder& folder, FolderLock lock,
                                               std::span<const admin::ConsoleFile> console);
  ~Daemon();
  // Everything is served when it returns.
  Status open_protocols();

  // Serves until SIGTERM or SIGINT; SIGHUP reloads. Those signals must be blocked in all threads. `ready` is called
  // when requests are answered.
  Status run(const std::function<void()>& ready);

 private:
  Daemon(const ConfigSource& source, const Config& config, const DataFolder& folder, FolderLock lock,
         std::span<const admin::ConsoleFile> console);
  Status open();
  void reload();
  Status renew_admin();
  Status kerberos() const;  // as admin::Service has it
  bool healthy();
  void close_protocols();

  ConfigSource source_;
  Config config_;
  DataFolder folder_;
  FolderLock lock_;
  std::span<const admin::ConsoleFile> console_;
  Notifier notifier_;
  MetricRegistry metrics_;
  core::Head head_{metrics_};
  Stores stores_;
  std::unique_ptr<core::Volume> volume_;
  std::unique_ptr<AuditWriter> audit_;
  std::unique_ptr<admin::WatchHub> watch_;
  std::unique_ptr<admin::CheckJob> check_;
  std::unique_ptr<HostKeyFile> host_keys_;
  std::unique_ptr<admin::Service> service_;
  std::mutex protocols_mutex_;  // guards protocols_, which the admin interface asks, too
  std::vector<std::unique_ptr<Protocol>> protocols_;
  std::unique_ptr<admin::AdminServer> admin_;
};

}  // namespace stoa::appliance

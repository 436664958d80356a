// The objects that the admin routes work on. Made and owned by the appliance; everything outlives the server.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/api/audit_log.h"
#include "core/blob/blob_store.h"
#include "core/volume/volume.h"
#include "frontends/admin/admin_action.h"
#include "frontends/admin/check_job.h"
#include "frontends/admin/console_files.h"
#include "frontends/admin/throttle.h"
#include "frontends/admin/watch_hub.h"

namespace stoa::admin {

struct ProtocolStatus {
  std::string name;  // "nfs"
  bool open = false;
  std::string address;  // "127.0.0.1:2049", "http://…"
};

// A client that the server keeps opens, locks and caching leases for.
struct ClientStatus {
  std::uint64_t id = 0;  // stable while the client is known, and never reused
  std::string protocol;  // "nfs"
  std::string version;   // "nlm", "nfs4.0", "nfs4.1"
  std::string address;
  std::string name;  // its own, any bytes
  std::int64_t opens = 0, locks = 0, leases = 0;
  std::int64_t silent_seconds = 0;  // since it was heard of
};

// The key of a host that uses the native protocol.
struct HostKey {
  std::string name;
  std::string key;
  std::string secret{};  // only in the answer to its creation
  Timestamp created{};
};

struct Service {
  core::Volume& volume;
  MetricRegistry& metrics;
  CheckJob& check;
  std::string version;
  std::string token;
  std::string data_folder;
  std::string engine;
  Timestamp started;
  std::function<std::vector<ProtocolStatus>()> protocols;
  std::function<std::vector<core::BlobStore::DirectoryHealth>()> data_directories;
  std::function<core::BlobStore::Space()> space;  // of the disks, regardless of quotas
  std::function<std::vector<ClientStatus>()> clients{};
  // Revokes all state of a client, for good. kNotFound: no such client; errors of the store.
  std::function<Status(std::uint64_t id)> evict_client{};
  // Keys of hosts: by name, without secrets; made anew (kExists, kInvalid, kBusy); taken away (kNotFound).
  std::function<std::vector<HostKey>()> list_host_keys = [] { return std::vector<HostKey>(); };
  std::function<Result<HostKey>(const std::string& name)> add_host_key = [](const std::string&) {
    return Result<HostKey>(fail(Errc::kNotSupported, "this server has no native protocol"));
  };
  std::function<Status(const std::string& name)> remove_host_key = [](const std::string&) {
    return Status(fail(Errc::kNotFound, "there is no such host key"));
  };
  // Whether clients can come with Kerberos just now; else kNotSupported, with a cause.
  std::function<Status()> kerberos = [] { return Status(fail(Cause::kKeytabMissing)); };
  // Whether native clients can come with TLS.
  bool native_tls = false;
  // Told of each action when it is over, by the thread that served it; must be thread-safe, and should not block.
  std::function<void(const Request&, const AdminAction&)> record_action{};
  Throttle throttle{};
  core::AuditLog* audit = nullptr;         // null: there is none
  WatchHub* watch = nullptr;               // stopped by the server before it ends; null: nothing can be watched
  std::span<const ConsoleFile> console{};  // lives as long as the program
  // Changes of records are read, changed and written back; one at a time, or one would undo another.
  std::mutex edit_mutex{};
};

}  // namespace stoa::admin

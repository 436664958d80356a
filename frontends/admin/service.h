// What the admin routes work on. Made and owned by the appliance; everything outlives the server.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/data/blob_store.h"
#include "core/volume/volume.h"
#include "frontends/admin/check_job.h"

namespace stoa::admin {

struct DoorStatus {
  std::string name;  // "nfs"
  bool open = false;
  std::string address;  // "127.0.0.1:2049", "http://…"
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
  std::function<std::vector<DoorStatus>()> doors;
  std::function<std::vector<core::BlobStore::DirectoryHealth>()> data_directories;
  // Changes of records are read, changed and written back; one at a time, or one would undo another.
  std::mutex edit_mutex{};
};

}  // namespace stoa::admin

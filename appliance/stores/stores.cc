#include "appliance/stores/stores.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "appliance/config/config_file.h"
#include "appliance/stores/blob_folders.h"
#include "backends/blob/local/local_blob_store.h"
#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"

namespace stoa::appliance {
namespace {

constexpr std::uint64_t kZeroedLogBytes = 32u << 20;

Result<std::unique_ptr<core::KvStore>> open_kv(const Config& config, const DataFolder& folder, bool create) {
  if (config.engine == "memory") return std::unique_ptr<core::KvStore>(std::make_unique<kv::MemoryKv>());
  auto opened = kv::open_rocks({.path = folder.meta(),
                                .create = create,
                                .block_cache_bytes = config.volume.block_cache_bytes,
                                .zeroed_log_bytes = kZeroedLogBytes,
                                .reserve = true});
  if (!opened && opened.error().code == Errc::kNotFound) {
    return fail(Errc::kNotFound,
                "there is no volume in " + folder.path + "; make one with stoa volume create, or start stoad there");
  }
  return opened;
}

Status require_directory(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
  return fail(Errc::kNotFound, "the blob directory " + path + " is not there; mount its disk, or make it (mkdir " +
                                   path + ") if it is new");
}

Result<std::unique_ptr<core::BlobStore>> open_blobs(const Config& config, const DataFolder& folder,
                                                    MetricRegistry& metrics) {
  LocalBlobStoreOptions options;
  options.directories = config.blob_directories;
  if (options.directories.empty()) {
    options.directories.push_back(folder.blobs());
    if (mkdir(folder.blobs().c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "make " + folder.blobs());
  }
  for (const std::string& path : options.directories) STOA_CHECK_OK(require_directory(path));
  STOA_TRY(known, load_blob_folders(folder));
  for (const std::string& path : known) {
    if (std::ranges::find(options.directories, path) != options.directories.end()) continue;
    return fail(Errc::kInvalid,
                "blob_directories: " + path + " holds content of this volume and is not named any more; name it again");
  }
  // All were here before: one that looks new is a disk that is not mounted.
  options.create = known.size() != options.directories.size();
  STOA_TRY(store, LocalBlobStore::open(options, metrics));
  if (options.create) STOA_CHECK_OK(save_blob_folders(folder, options.directories));
  return std::unique_ptr<core::BlobStore>(std::move(store));
}

}  // namespace

Result<Stores> open_stores(const Config& config, const DataFolder& folder, MetricRegistry& metrics, bool create) {
  Stores stores;
  STOA_TRY(kv, open_kv(config, folder, create));
  stores.kv = std::move(kv);
  STOA_TRY(blobs, open_blobs(config, folder, metrics));
  stores.blobs = std::move(blobs);
  return stores;
}

core::VolumeOptions volume_options(const Config& config) {
  return {.inline_bytes_max = static_cast<std::uint32_t>(config.volume.inline_bytes_max),
          .cached_inodes_max = config.volume.cached_inodes_max,
          .lazy_attributes_ms = static_cast<std::uint32_t>(config.volume.lazy_attributes_ms),
          .scrub_bytes_per_second = static_cast<std::uint32_t>(config.volume.scrub_bytes_per_second),
          .lease_recall_timeout_ms = static_cast<std::uint32_t>(config.volume.lease_recall_ms),
          .grace_ms = static_cast<std::uint32_t>(config.volume.grace_ms)};
}

Result<Config> offline_config(const DataFolder& folder, const std::string& config_path) {
  Config config;
  if (!config_path.empty()) STOA_CHECK_OK(read_config_file(config_path, config));
  if (config.blob_directories.empty()) {
    STOA_TRY(known, load_blob_folders(folder));
    if (known != std::vector{folder.blobs()}) config.blob_directories = known;
  }
  return config;
}

}  // namespace stoa::appliance

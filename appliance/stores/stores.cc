#include "appliance/stores/stores.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "appliance/config/config_file.h"
#include "appliance/data_folder/volume_mark.h"
#include "appliance/stores/blob_folders.h"
#include "appliance/stores/metadata_state.h"
#include "appliance/stores/usable_memory.h"
#include "backends/blob/local/local_blob_store.h"
#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "base/log.h"
#include "core/volume/generation_record.h"
#include "frontends/admin/sentences.h"

namespace stoa::appliance {
namespace {

constexpr std::uint64_t kZeroedLogBytes = 32u << 20;
constexpr std::uint64_t kWrittenCachePart = 8;  // an eighth of the memory, for recent writes

std::string id_text(const core::VolumeInfo& info) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, info.id, 16).ptr;
  const std::string text(digits, end);
  return std::string(16 - text.size(), '0') + text;
}

constexpr const char* kRestoreOrBeginElsewhere =
    "; nothing was changed. Mount the disk that is missing, or restore the metadata and all blob directories from the "
    "same backup. To begin with "
    "an empty volume instead, name another data folder (--data) and other blob directories (--blob-directories): these "
    "stay as they are";

// One opening: the facts about the pieces, from step to step.
class Opening {
 public:
  Opening(const Config& config, const DataFolder& folder, MetricRegistry& metrics, const OpenStores& options)
      : config_(config), folder_(folder), metrics_(metrics), options_(options), directories_(config.blob_directories) {
    if (directories_.empty()) directories_.push_back(folder.blobs());
  }

  Result<Stores> run() {
    STOA_TRY(mark, read_volume_mark(folder_));
    mark_ = mark;
    if (config_.engine == "memory") return run_in_memory();
    const auto metadata = look_at_metadata(folder_.meta());
    if (!metadata && !unfinished()) return fail(metadata.error());
    if (metadata && *metadata == MetadataState::kThere) {
      STOA_CHECK_OK(open_kv(/*create=*/false));
      STOA_TRY(found, core::read_volume_info(*stores_.kv));
      info_ = std::move(found);
    }
    if (!info_) STOA_CHECK_OK(make_volume());
    const std::string id = id_text(*info_);
    if (mark_ && !unfinished() && mark_->id != id) {
      return fail(Errc::kInvalid, "the metadata in " + folder_.meta() + " are of volume " + id +
                                      ", and the data folder " + folder_.path + " is of volume " + mark_->id + " (" +
                                      folder_.mark() + ")" + kRestoreOrBeginElsewhere);
    }
    STOA_CHECK_OK(open_paired_blobs(id));
    if (options_.damaged) return std::move(stores_);
    if (!mark_ || unfinished()) STOA_CHECK_OK(write_volume_mark(folder_, {id}));
    STOA_CHECK_OK(save_blob_folders(folder_, directories_));
    return std::move(stores_);
  }

 private:
  // An interrupted creation of a volume: nothing was ever stored in it.
  bool unfinished() const { return mark_ && mark_->id.empty(); }

  Status open_kv(bool create) {
    STOA_TRY(kv, kv::open_rocks({.path = folder_.meta(),
                                 .create = create,
                                 .damaged = options_.damaged,
                                 .block_cache_bytes = config_.volume.block_cache_bytes,
                                 .zeroed_log_bytes = kZeroedLogBytes,
                                 .reserve = true}));
    stores_.kv = std::move(kv);
    return {};
  }

  // Only where nothing is: no mark, no metadata, nothing in the blob directories.
  Status make_volume() {
    if (mark_ && !unfinished()) {
      return fail(Errc::kInvalid, "the metadata of volume " + mark_->id + " are missing: there is no volume in " +
                                      folder_.meta() + kRestoreOrBeginElsewhere);
    }
    STOA_CHECK_OK(require_new_directories());
    if (options_.new_volume.empty() || options_.damaged) {
      return fail(Errc::kNotFound,
                  "there is no volume in " + folder_.path + "; make one with stoa volume create, or start stoad there");
    }
    // From here to the last mark a crash leaves something unfinished, which the next start makes anew.
    STOA_CHECK_OK(write_volume_mark(folder_, {}));
    mark_ = VolumeMark{};
    STOA_CHECK_OK(make_default_directory());
    if (!stores_.kv) STOA_CHECK_OK(open_kv(/*create=*/true));
    STOA_CHECK_OK(core::Volume::format(*stores_.kv, options_.new_volume));
    STOA_TRY(made, core::read_volume_info(*stores_.kv));
    info_ = std::move(made);
    stores_.made = true;
    log_info("stores", "made a new volume", {{"name", options_.new_volume}, {"data", folder_.path}});
    return {};
  }

  Status require_new_directories() const {
    std::vector<std::string> there = directories_;
    // The store made with the volume.
    std::erase_if(there,
                  [&](const std::string& path) { return path == folder_.blobs() && !std::filesystem::exists(path); });
    for (const std::string& path : there) STOA_CHECK_OK(require_directory(path));
    if (there.empty()) return {};
    const Status empty = LocalBlobStore::require_new(there);
    if (empty || empty.error().code != Errc::kInvalid) return empty;
    return fail(Errc::kInvalid, admin::sentence(empty.error()) + ", and there are no metadata in " + folder_.meta() +
                                    kRestoreOrBeginElsewhere);
  }

  Status make_default_directory() const {
    if (std::ranges::find(directories_, folder_.blobs()) == directories_.end()) return {};
    if (mkdir(folder_.blobs().c_str(), 0700) != 0 && errno != EEXIST)
      return fail_errno(errno, "make " + folder_.blobs());
    return {};
  }

  static Status require_directory(const std::string& path) {
    struct stat info{};
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
    return fail(Errc::kNotFound,
                "the blob directory " + path +
                    " is not there; mount its disk, restore it from a backup of the same time as the metadata, "
                    "or make it (mkdir " +
                    path + ") if it is new");
  }

  Status open_paired_blobs(const std::string& id) {
    STOA_TRY(generation, core::read_generation(*stores_.kv));
    for (const std::string& path : directories_) STOA_CHECK_OK(require_directory(path));
    LocalBlobStoreOptions blobs;
    blobs.directories = directories_;
    blobs.create = unfinished();
    blobs.sweep_all = options_.sweep_all;
    blobs.written_cache_bytes = usable_memory() / kWrittenCachePart;
    blobs.pairing = BlobPairing{.volume = id,
                                .generation = generation,
                                .metadata = folder_.meta(),
                                .home = folder_.path,
                                .is_home = [id](const std::string& home) {
                                  const auto mark = read_volume_mark(DataFolder{home});
                                  return mark && *mark && (*mark)->id == id;
                                }};
    if (!options_.damaged) {
      blobs.pairing->raise = [this](const core::Generation& next) { return core::write_generation(*stores_.kv, next); };
    }
    STOA_TRY(store, LocalBlobStore::open(blobs, metrics_));
    stores_.blobs = std::move(store);
    return {};
  }

  // Its metadata end with the process, and with them the content of its blob directories: never those of a volume
  // that is kept.
  Result<Stores> run_in_memory() {
    const auto metadata = look_at_metadata(folder_.meta());
    if (mark_ || !metadata || *metadata == MetadataState::kThere) {
      return fail(
          Errc::kInvalid,
          "the data folder " + folder_.path +
              " holds a volume on disk, which engine = \"memory\" would not serve; name another folder with --data");
    }
    if (options_.new_volume.empty())
      return fail(Errc::kInvalid, "a volume in memory ends with its process; set engine = \"rocksdb\"");
    STOA_CHECK_OK(make_default_directory());
    for (const std::string& path : directories_) STOA_CHECK_OK(require_directory(path));
    stores_.kv = std::make_unique<kv::MemoryKv>();
    STOA_CHECK_OK(core::Volume::format(*stores_.kv, options_.new_volume));
    STOA_TRY(store, LocalBlobStore::open(
                        {
                            .directories = directories_,
                            .pairing = BlobPairing{.volume = kVolumeInMemory, .home = folder_.path},
                            .sweep_all = true,
                        },
                        metrics_));
    stores_.blobs = std::move(store);
    stores_.made = true;
    return std::move(stores_);
  }

  const Config& config_;
  const DataFolder& folder_;
  MetricRegistry& metrics_;
  const OpenStores& options_;
  std::vector<std::string> directories_;
  std::optional<VolumeMark> mark_;
  std::optional<core::VolumeInfo> info_;
  Stores stores_;
};

}  // namespace

Result<Stores> open_stores(const Config& config, const DataFolder& folder, MetricRegistry& metrics,
                           const OpenStores& options) {
  return Opening(config, folder, metrics, options).run();
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

#include "appliance/offline/offline.h"

#include <sys/stat.h>

#include "appliance/cli/terminal_error.h"
#include "appliance/data_folder/folder_lock.h"
#include "appliance/stores/stores.h"
#include "base/metrics.h"
#include "core/volume/check_unopened.h"

namespace stoa::appliance {
namespace {

// A reader must not leave a folder behind where there was none.
Status require_folder(const DataFolder& folder) {
  struct stat info{};
  if (stat(folder.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
  return fail(Errc::kNotFound,
              "there is no data folder " + folder.path + "; name one with --data, or make one with stoa volume create");
}

core::VolumeOptions offline_options(const Config& config) {
  core::VolumeOptions options = volume_options(config);
  options.background = false;
  return options;
}

Result<core::CheckReport> check_opened(const Config& config, const DataFolder& folder,
                                       const core::VolumeOptions& options, const core::CheckOptions& check) {
  MetricRegistry metrics;
  STOA_TRY(stores, open_stores(config, folder, metrics, {}));
  STOA_TRY(volume, core::Volume::open(*stores.kv, *stores.blobs, metrics, options));
  return volume->check(check);
}

// Nothing is replayed or changed.
Result<core::CheckReport> check_damaged(const Config& config, const DataFolder& folder,
                                        const core::VolumeOptions& options, const core::CheckOptions& check,
                                        const std::string& why) {
  MetricRegistry metrics;
  core::CheckReport report;
  auto stores = open_stores(config, folder, metrics, {.damaged = true});
  if (stores) {
    STOA_TRY(found, core::check_unopened(*stores->kv, *stores->blobs, metrics, options, check));
    report = std::move(found);
  }
  report.problems.insert(report.problems.begin(), core::Finding{core::FindingKind::kVolumeUnopened,
                                                                {stores ? why : cli::terminal_text(stores.error())}});
  ++report.problem_count;
  return report;
}

}  // namespace

Result<std::string> create_volume(const DataFolder& wanted, const std::string& config_path, const std::string& name) {
  if (name.empty()) return fail(Errc::kInvalid, "the volume needs a name");
  STOA_TRY(folder, make_data_folder(wanted.path));
  STOA_TRY(lock, FolderLock::take(folder));
  STOA_TRY(config, offline_config(folder, config_path));
  if (config.engine == "memory")
    return fail(Errc::kInvalid, "a volume in memory ends with its process; set engine = \"rocksdb\"");
  MetricRegistry metrics;
  STOA_TRY(stores, open_stores(config, folder, metrics, {.new_volume = name}));
  if (!stores.made)
    return fail(Errc::kExists, "there is a volume in " + folder.path + " already; choose another folder with --data");
  static_cast<void>(lock);
  return folder.path;
}

Result<core::CheckReport> check_offline(const DataFolder& wanted, const std::string& config_path, bool read_data,
                                        CheckProgress progress) {
  STOA_CHECK_OK(require_folder(wanted));
  STOA_TRY(folder, make_data_folder(wanted.path));
  STOA_TRY(lock, FolderLock::take(folder));
  STOA_TRY(config, offline_config(folder, config_path));
  core::CheckOptions check{.read_data = read_data};
  if (progress != nullptr) check.progress = progress;
  const core::VolumeOptions volume = offline_options(config);
  static_cast<void>(lock);
  auto report = check_opened(config, folder, volume, check);
  if (report || (report.error().code != Errc::kCorrupt && report.error().code != Errc::kIo)) return report;
  return check_damaged(config, folder, volume, check, cli::terminal_text(report.error()));
}

Result<core::KeptBlobs> sweep_volume(const DataFolder& wanted, const std::string& config_path) {
  STOA_CHECK_OK(require_folder(wanted));
  STOA_TRY(folder, make_data_folder(wanted.path));
  STOA_TRY(lock, FolderLock::take(folder));
  STOA_TRY(config, offline_config(folder, config_path));
  static_cast<void>(lock);
  core::KeptBlobs freed;
  for (const bool sweep_all : {false, true}) {
    MetricRegistry metrics;
    STOA_TRY(stores, open_stores(config, folder, metrics, {.sweep_all = sweep_all}));
    const auto volume = core::Volume::open(*stores.kv, *stores.blobs, metrics, offline_options(config));
    if (!volume) return fail(volume.error());
    if (!sweep_all) freed = core::kept_blobs(*stores.blobs);
    if (freed.blobs == 0) break;
  }
  return freed;
}

}  // namespace stoa::appliance

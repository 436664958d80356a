#include "appliance/offline/offline.h"

#include <sys/stat.h>

#include "appliance/data_folder/folder_lock.h"
#include "appliance/stores/stores.h"
#include "base/metrics.h"

namespace stoa::appliance {
namespace {

// A reader must not leave a folder behind where there was none.
Status require_folder(const DataFolder& folder) {
  struct stat info{};
  if (stat(folder.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
  return fail(Errc::kNotFound,
              "there is no data folder " + folder.path + "; name one with --data, or make one with stoa volume create");
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
  STOA_TRY(stores, open_stores(config, folder, metrics, /*create=*/true));
  const Status made = core::Volume::format(*stores.kv, name);
  if (!made && made.error().code == Errc::kExists)
    return fail(Errc::kExists, "there is a volume in " + folder.path + " already; choose another folder with --data");
  STOA_CHECK_OK(made);
  STOA_CHECK_OK(stores.kv->sync());
  static_cast<void>(lock);
  return folder.path;
}

Result<core::CheckReport> check_offline(const DataFolder& wanted, const std::string& config_path, bool read_data,
                                        CheckProgress progress) {
  STOA_CHECK_OK(require_folder(wanted));
  STOA_TRY(folder, make_data_folder(wanted.path));
  STOA_TRY(lock, FolderLock::take(folder));
  STOA_TRY(config, offline_config(folder, config_path));
  MetricRegistry metrics;
  STOA_TRY(stores, open_stores(config, folder, metrics, /*create=*/false));
  core::VolumeOptions options = volume_options(config);
  options.background = false;
  auto volume = core::Volume::open(*stores.kv, *stores.blobs, metrics, options);
  if (!volume) return fail(std::move(volume).error());
  core::CheckOptions check{.read_data = read_data};
  if (progress != nullptr) check.progress = progress;
  static_cast<void>(lock);
  return (*volume)->check(check);
}

}  // namespace stoa::appliance

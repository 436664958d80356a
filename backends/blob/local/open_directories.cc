#include "backends/blob/local/open_directories.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "backends/blob/local/identity.h"

namespace stoa::blob_local {
namespace {

struct Found {
  std::string path;
  std::optional<Identity> identity;
};

Result<std::vector<Found>> read_identities(const LocalBlobStoreOptions& options) {
  if (options.directories.empty()) return fail(Errc::kInvalid, "no data directory is given");
  if (options.directories.size() > kDirectoriesMax) return fail(Errc::kInvalid, "too many data directories");
  std::vector<Found> found;
  for (const std::string& path : options.directories) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return fail_errno(errno, "data directory " + path);
    if (!S_ISDIR(info.st_mode)) return fail(Errc::kNotDirectory, "data directory " + path);
    STOA_TRY(identity, read_identity(path));
    found.push_back({path, std::move(identity)});
  }
  return found;
}

// Gives new directories the next numbers; refuses a set that is not one whole store.
Status settle_identities(std::vector<Found>& found, bool create) {
  std::string volume;
  std::string volume_path;
  std::uint32_t count = 0;
  for (const Found& directory : found) {
    if (!directory.identity) continue;
    if (!volume.empty() && directory.identity->volume != volume) {
      return fail(Errc::kInvalid, directory.path + " and " + volume_path + " belong to different volumes");
    }
    volume = directory.identity->volume;
    volume_path = directory.path;
    count = std::max({count, directory.identity->count, directory.identity->index + 1});
  }
  std::vector<std::string> owner(count);
  for (const Found& directory : found) {
    if (!directory.identity) continue;
    std::string& path = owner[directory.identity->index];
    if (!path.empty()) return fail(Errc::kInvalid, directory.path + " is a copy of " + path);
    path = directory.path;
  }
  std::uint32_t fresh = 0;
  std::string fresh_path;
  for (const Found& directory : found) {
    if (directory.identity) continue;
    ++fresh;
    fresh_path = directory.path;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    if (!owner[index].empty()) continue;
    std::string detail = "data directory number " + std::to_string(index) + " of volume " + volume + " is missing";
    if (fresh != 0) detail += "; " + fresh_path + " holds no data: is its disk mounted?";
    return fail(Errc::kInvalid, detail);
  }
  if (fresh == 0) return {};
  if (!create) return fail(Errc::kInvalid, fresh_path + " holds no data directory of a volume: is its disk mounted?");
  if (volume.empty()) volume = new_volume_name();
  const std::uint32_t total = count + fresh;
  // The new ones first: a crash in between leaves a set that the old identities still describe.
  for (Found& directory : found) {
    if (directory.identity) continue;
    directory.identity = Identity{volume, count++, total};
    STOA_CHECK_OK(write_identity(directory.path, *directory.identity));
  }
  for (Found& directory : found) {
    if (directory.identity->count == total) continue;
    directory.identity->count = total;
    STOA_CHECK_OK(write_identity(directory.path, *directory.identity));
  }
  return {};
}

}  // namespace

Result<std::vector<std::unique_ptr<DataDirectory>>> open_directories(const LocalBlobStoreOptions& options) {
  STOA_TRY(found, read_identities(options));
  STOA_CHECK_OK(settle_identities(found, options.create));
  std::vector<std::unique_ptr<DataDirectory>> opened;
  for (const Found& directory : found) {
    opened.push_back(
        std::make_unique<DataDirectory>(directory.path, directory.identity->index, options.reserve_bytes));
    opened.back()->direct = options.direct_io;
    STOA_CHECK_OK(opened.back()->open());
  }
  std::ranges::sort(opened, {}, [](const auto& directory) { return directory->index(); });
  return opened;
}

}  // namespace stoa::blob_local

#include "backends/blob/local/open_directories.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "backends/blob/local/claim.h"

namespace stoa::blob_local {
namespace {

// Names that a new directory may contain: a file system's own, our lock, and the remains of a crash while the first
// identity was written.
bool counts_as_nothing(const std::string& name) {
  return name == "lost+found" || name == "lock" || name == "identity.new";
}

Status require_empty_directory(const std::string& path) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (counts_as_nothing(name)) continue;
    const bool content = name == "own" || name == "slots" || name == "next_own";
    return content ? fail(Cause::kBlobIdentityMissing, path) : fail(Cause::kBlobNotEmpty, path, name);
  }
  if (error) return fail_errno(error.value(), "list " + path);
  return {};
}

Result<std::vector<Found>> read_identities(const LocalBlobStoreOptions& options) {
  if (options.directories.empty()) return fail(Cause::kBlobNone);
  if (options.directories.size() > kDirectoriesMax) return fail(Cause::kBlobTooMany, kDirectoriesMax);
  std::vector<Found> found;
  for (const std::string& path : options.directories) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return fail_errno(errno, "data directory " + path);
    if (!S_ISDIR(info.st_mode)) return fail(Cause::kBlobNotDirectory, path);
    STOA_TRY(identity, read_identity(path));
    if (!identity) STOA_CHECK_OK(require_empty_directory(path));
    found.push_back({path, std::move(identity)});
  }
  return found;
}

// The same, and refuses directories that do not belong together. Changes nothing.
Result<std::vector<Found>> look_at_directories(const LocalBlobStoreOptions& options) {
  STOA_TRY(found, read_identities(options));
  STOA_CHECK_OK(match_identities(found, options.create));
  if (options.pairing) STOA_CHECK_OK(compare_generations(found, *options.pairing));
  return found;
}

}  // namespace

Result<std::vector<std::unique_ptr<DataDirectory>>> open_directories(const LocalBlobStoreOptions& options) {
  // Twice: nothing is written, not even a lock, in directories that are refused, and only the identities read under the
  // locks count.
  STOA_TRY(before, look_at_directories(options));
  std::vector<std::unique_ptr<DataDirectory>> opened;
  for (const Found& directory : before) {
    opened.push_back(std::make_unique<DataDirectory>(directory.path, directory.identity->index, options.reserve_bytes));
    opened.back()->direct = options.direct_io;
    STOA_CHECK_OK(opened.back()->lock());
  }
  STOA_TRY(found, look_at_directories(options));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].path != before[i].path || found[i].identity->index != before[i].identity->index) {
      return fail(Cause::kBlobChanged, found[i].path);
    }
  }
  if (options.pairing) {
    if (options.pairing->raise || options.pairing->volume == kVolumeInMemory)
      STOA_CHECK_OK(raise_generation(found, *options.pairing));
  } else {
    for (const Found& directory : found) STOA_CHECK_OK(write_identity(directory.path, *directory.identity));
  }
  for (const auto& directory : opened) STOA_CHECK_OK(directory->open());
  std::ranges::sort(opened, {}, [](const auto& directory) { return directory->index(); });
  return opened;
}

Status require_new_directories(const std::vector<std::string>& directories) {
  STOA_TRY(found, read_identities({.directories = directories}));
  for (const Found& directory : found) {
    if (!directory.identity) continue;
    const Identity& identity = *directory.identity;
    return fail(Cause::kBlobHoldsVolume, directory.path, identity.volume, identity.home);
  }
  return {};
}

}  // namespace stoa::blob_local

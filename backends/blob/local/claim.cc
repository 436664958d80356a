#include "backends/blob/local/claim.h"

#include <sys/random.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/log.h"

namespace stoa::blob_local {
namespace {

std::string start_text(const core::Generation& generation) {
  if (generation.number == 0) return "the time before the first start";
  const auto when = static_cast<std::time_t>(generation.seconds);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&when, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return "start " + std::to_string(generation.number) + " (" + text + ")";
}

// Symbolic links and dots away, where it is there.
std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

std::uint64_t random_nonce() {
  std::uint64_t value = 0;
  while (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
  }
  return value;
}

constexpr const char* kTogether =
    "nothing was changed. Put together what is of one time: restore the metadata and all blob directories from the "
    "same backup, or name the "
    "directories that belong to these metadata";

Status compare_directory(const Found& found, const BlobPairing& pairing) {
  const Identity& have = *found.identity;
  const std::string names = "the blob directory " + found.path;
  if (!found.fresh && have.volume != pairing.volume) {
    std::string owner = have.volume.empty()              ? "no volume"
                        : have.volume == kVolumeInMemory ? "a volume in memory"
                                                         : "volume " + have.volume;
    const std::string to_whom = pairing.volume == kVolumeInMemory
                                    ? "one in memory"
                                    : "volume " + pairing.volume + ", whose metadata are in " + pairing.metadata;
    if (!have.home.empty()) owner += " (its data folder was " + have.home + ")";
    return fail(Errc::kInvalid, names + " belongs to " + owner + ", not to " + to_whom +
                                    "; nothing was changed. Name the directories of this volume, or an empty one");
  }
  if (pairing.volume == kVolumeInMemory) return {};
  // The identity was not copied or moved, and its data folder still exists: then the given data folder is the copy.
  std::error_code error;
  const bool original = have.place == real_path(found.path) && !have.home.empty() &&
                        !std::filesystem::equivalent(have.home, pairing.home, error) && !error;
  if (original && pairing.is_home && pairing.is_home(have.home)) {
    return fail(
        Errc::kInvalid,
        names + " is that of the data folder " + have.home + ", which holds this volume, too: " + pairing.home +
            " is a copy of it. Give the copy blob directories of its own (copy them while no stoad runs, and name the "
            "copies), or, if this one is to go on in its place, rename " +
            have.home + " first; nothing was changed");
  }
  if (have.generation == pairing.generation || (have.next && *have.next == pairing.generation)) return {};
  const std::string both = names + " is of " + start_text(have.generation) + ", and the metadata in " +
                           pairing.metadata + " are of " + start_text(pairing.generation) + " of volume " +
                           pairing.volume + ": ";
  const char* const verdict = have.generation.number < pairing.generation.number
                                  ? "the blob directory is older than the metadata, or of another copy; "
                              : have.generation.number > pairing.generation.number
                                  ? "the metadata are older than the blob directory, or of another copy; "
                                  : "they are of two copies that were both started; ";
  return fail(Errc::kInvalid, both + verdict + kTogether);
}

}  // namespace

Status match_identities(std::vector<Found>& found, bool create) {
  std::string store;
  std::string store_path;
  std::uint32_t count = 0;
  Identity fresh_identity;  // a new one is as old as the others
  for (const Found& directory : found) {
    if (!directory.identity) continue;
    if (!store.empty() && directory.identity->store != store) {
      return fail(Errc::kInvalid, directory.path + " and " + store_path + " belong to different volumes");
    }
    store = directory.identity->store;
    store_path = directory.path;
    fresh_identity = *directory.identity;
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
    std::string detail =
        "data directory number " + std::to_string(index) + " of those that " + store_path + " belongs to is missing";
    if (fresh != 0)
      detail += "; " + fresh_path + " holds no data: is its disk mounted?";
    else
      detail += "; name it again (blob_directories)";
    return fail(Errc::kInvalid, detail);
  }
  if (fresh == 0) return {};
  if (count == 0 && !create) {
    return fail(
        Errc::kInvalid,
        fresh_path +
            " holds no data directory of the volume; is its disk mounted? Mount it, or restore it from a backup");
  }
  if (store.empty()) fresh_identity.store = new_store_name();
  fresh_identity.home.clear();
  fresh_identity.place.clear();
  const std::uint32_t total = count + fresh;
  for (Found& directory : found) {
    if (!directory.identity) {
      fresh_identity.index = count++;
      directory.identity = fresh_identity;
      directory.fresh = true;
    }
    directory.identity->count = total;
  }
  // The new ones are written first: a crash in between leaves a set that the old identities still describe.
  std::ranges::partition(found, [](const Found& directory) { return directory.fresh; });
  return {};
}

Status compare_generations(const std::vector<Found>& found, const BlobPairing& pairing) {
  for (const Found& directory : found) STOA_CHECK_OK(compare_directory(directory, pairing));
  return {};
}

namespace {

Status raise_everywhere(std::vector<Found>& found, const BlobPairing& pairing) {
  const core::Generation next{pairing.generation.number + 1, random_nonce(),
                              static_cast<std::int64_t>(std::time(nullptr))};
  const bool counted = pairing.volume != kVolumeInMemory;
  for (Found& directory : found) {
    Identity& identity = *directory.identity;
    identity.volume = pairing.volume;
    identity.home = pairing.home;
    identity.place = real_path(directory.path);
    if (counted) {
      identity.generation = pairing.generation;  // it was noted already, or is this
      identity.next = next;
    }
    STOA_CHECK_OK(write_identity(directory.path, identity));
  }
  if (!counted) return {};
  STOA_CHECK_OK(pairing.raise(next));
  for (Found& directory : found) {
    directory.identity->generation = next;
    directory.identity->next.reset();
    STOA_CHECK_OK(write_identity(directory.path, *directory.identity));
  }
  return {};
}

}  // namespace

Status raise_generation(std::vector<Found>& found, const BlobPairing& pairing) {
  const Status raised = raise_everywhere(found, pairing);
  if (raised || raised.error().code != Errc::kNoSpace || std::ranges::any_of(found, &Found::fresh)) return raised;
  log_warning("blob",
              "a disk is full, so that this start does not count: pieces of the volume from before and after it cannot "
              "be told apart",
              {{"error", describe(raised.error())}});
  return {};
}

}  // namespace stoa::blob_local

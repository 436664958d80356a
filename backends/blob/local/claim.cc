#include "backends/blob/local/claim.h"

#include <sys/random.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/log.h"

namespace stoa::blob_local {
namespace {

std::string start_text(const core::Generation& generation) {
  if (generation.number == 0) return "0";
  const auto when = static_cast<std::time_t>(generation.seconds);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&when, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::to_string(generation.number) + " (" + text + ")";
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

Status compare_directory(const Found& found, const BlobPairing& pairing) {
  const Identity& have = *found.identity;
  if (!found.fresh && have.volume != pairing.volume)
    return fail(Cause::kBlobOtherVolume, found.path, have.volume, have.home, pairing.volume, pairing.metadata);
  if (pairing.volume == kVolumeInMemory) return {};
  // The identity was not copied or moved, and its data folder still exists: then the given data folder is the copy.
  std::error_code error;
  const bool original = have.place == real_path(found.path) && !have.home.empty() &&
                        !std::filesystem::equivalent(have.home, pairing.home, error) && !error;
  if (original && pairing.is_home && pairing.is_home(have.home)) {
    return fail(Cause::kBlobFolderCopied, found.path, have.home, pairing.home);
  }
  if (have.generation == pairing.generation || (have.next && *have.next == pairing.generation)) return {};
  const Cause cause = have.generation.number < pairing.generation.number   ? Cause::kBlobOlder
                      : have.generation.number > pairing.generation.number ? Cause::kBlobNewer
                                                                           : Cause::kBlobDiverged;
  return fail(cause, found.path, start_text(have.generation), pairing.metadata, start_text(pairing.generation),
              pairing.volume);
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
      return fail(Cause::kBlobMixed, directory.path, store_path);
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
    if (!path.empty()) return fail(Cause::kBlobCopy, directory.path, path);
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
    if (fresh != 0) return fail(Cause::kBlobUnmounted, index, store_path, fresh_path);
    return fail(Cause::kBlobMissing, index, store_path);
  }
  if (fresh == 0) return {};
  if (count == 0 && !create) {
    return fail(Cause::kBlobEmpty, fresh_path);
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

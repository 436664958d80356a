#include "backends/blob/local/sweep.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>

#include "base/log.h"

namespace stoa::blob_local {
namespace {

constexpr std::size_t kContainersLookedAt = 256;  // of each class
constexpr std::uint64_t kStatBlockBytes = 512;    // stat(2)

struct Unnamed {
  std::vector<std::uint64_t> own;      // numbers of own files
  std::vector<SlotRef> slots;          // that hold bytes
  std::vector<std::uint64_t> missing;  // own files that are named and not there
  std::uint64_t bytes = 0;             // of both, on the disk
  std::size_t count() const { return own.size() + slots.size(); }
};

// No thread allocates or frees in such a container before adoption is over, so the look holds no lock.
Status find_slots(DataDirectory& directory, unsigned size_class, std::uint64_t container, Unnamed& found) {
  std::vector<bool> taken;
  {
    const std::lock_guard lock(directory.mutex);
    taken = directory.slots.taken_slots(size_class, container);
  }
  const std::string path = directory.container_path(size_class, container);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "open " + path);
  const std::uint64_t size = slot_bytes(size_class);
  const auto slots = static_cast<std::uint32_t>(taken.size());
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (taken[slot]) continue;
    const off_t data = ::lseek(fd, static_cast<off_t>(slot * size), SEEK_DATA);
    if (data < 0) break;  // ENXIO: nothing but holes
    const auto holder = static_cast<std::uint32_t>(static_cast<std::uint64_t>(data) / size);
    if (holder != slot) {
      slot = holder - 1;  // is looked at next
      continue;
    }
    found.slots.push_back({size_class, container, slot});
    found.bytes += size;
  }
  ::close(fd);
  return {};
}

Result<Unnamed> find_unnamed(DataDirectory& directory, std::size_t containers_max) {
  Unnamed found;
  std::ranges::sort(directory.adopted_own);
  directory.adopted_own.erase(std::ranges::unique(directory.adopted_own).begin(), directory.adopted_own.end());
  std::vector<bool> present(directory.adopted_own.size());
  STOA_CHECK_OK(directory.for_each_own([&](std::uint64_t number) {
    if (number >= directory.first_own_since_open()) return;
    const auto known = std::ranges::lower_bound(directory.adopted_own, number);
    if (known != directory.adopted_own.end() && *known == number) {
      present[static_cast<std::size_t>(known - directory.adopted_own.begin())] = true;
      return;
    }
    struct stat info{};
    if (::stat(directory.own_path(number).c_str(), &info) != 0) return;
    found.own.push_back(number);
    found.bytes += static_cast<std::uint64_t>(info.st_blocks) * kStatBlockBytes;
  }));
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (!present[i]) found.missing.push_back(directory.adopted_own[i]);
  }
  if (!directory.punches()) return found;
  std::vector<std::pair<unsigned, std::uint64_t>> containers;
  {
    const std::lock_guard lock(directory.mutex);
    containers = directory.slots.newest_with_room(containers_max);
    // Empty ones are all looked at: they go.
    std::ranges::copy(directory.slots.empty_containers(), std::back_inserter(containers));
  }
  std::ranges::sort(containers);
  containers.erase(std::unique(containers.begin(), containers.end()), containers.end());
  for (const auto& [size_class, container] : containers)
    STOA_CHECK_OK(find_slots(directory, size_class, container, found));
  return found;
}

// Asks each own file for its size.
void count_named(DataDirectory& directory, std::uint64_t& blobs, std::uint64_t& bytes) {
  {
    const std::lock_guard lock(directory.mutex);
    directory.slots.for_each_taken([&](const SlotRef& slot) {
      ++blobs;
      bytes += slot_bytes(slot.size_class);
    });
  }
  for (const std::uint64_t number : directory.adopted_own) {
    struct stat info{};
    if (::stat(directory.own_path(number).c_str(), &info) != 0) continue;
    ++blobs;
    bytes += static_cast<std::uint64_t>(info.st_blocks) * kStatBlockBytes;
  }
}

void free_unnamed(DataDirectory& directory, const Unnamed& unnamed) {
  for (const std::uint64_t number : unnamed.own) ::unlink(directory.own_path(number).c_str());
  // A slot that cannot be punched is zeroed when it is used again.
  for (const SlotRef& slot : unnamed.slots) {
    const int fd = ::open(directory.container_path(slot.size_class, slot.container).c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    const std::uint64_t size = slot_bytes(slot.size_class);
    ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(slot.slot * size),
                static_cast<off_t>(size));
    ::close(fd);
  }
  if (unnamed.count() == 0) return;
  log_info("blob", "freed what no file refers to",
           {{"directory", directory.path()}, {"blobs", unnamed.count()}, {"bytes", unnamed.bytes}});
}

}  // namespace

Result<Kept> sweep_unnamed(std::span<const std::unique_ptr<DataDirectory>> directories, bool all) {
  std::vector<Unnamed> found;
  std::uint64_t blobs = 0, bytes = 0;
  for (const auto& directory : directories) {
    STOA_TRY(unnamed, find_unnamed(*directory, kContainersLookedAt));
    blobs += unnamed.count();
    bytes += unnamed.bytes;
    for (const std::uint64_t number : unnamed.missing) directory->note_missing(directory->own_path(number));
    found.push_back(std::move(unnamed));
  }
  bool much = !all && is_much(blobs, bytes, 0, 0);
  if (much) {
    std::uint64_t of_blobs = blobs, of_bytes = bytes;
    for (const auto& directory : directories) count_named(*directory, of_blobs, of_bytes);
    much = is_much(blobs, bytes, of_blobs, of_bytes);
  }
  if (!much) {
    for (std::size_t i = 0; i < found.size(); ++i) free_unnamed(*directories[i], found[i]);
    return Kept{};
  }
  Kept kept;
  for (const auto& directory : directories) {
    STOA_TRY(unnamed, find_unnamed(*directory, std::numeric_limits<std::size_t>::max()));
    const std::lock_guard lock(directory->mutex);
    for (const SlotRef& slot : unnamed.slots) directory->slots.adopt(slot);
    kept.slots += unnamed.slots.size();
    kept.blobs += unnamed.count();
    kept.bytes += unnamed.bytes;
  }
  log_error("blob", "content that nothing names is kept, for it is more than a crash leaves behind",
            {{"blobs", kept.blobs}, {"bytes", kept.bytes}});
  return kept;
}

}  // namespace stoa::blob_local

#include "backends/blob/local/local_blob_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "backends/blob/local/file_cache.h"
#include "backends/blob/local/open_directories.h"
#include "backends/blob/local/sweep.h"
#include "backends/blob/local/sync_pool.h"
#include "backends/blob/local/written_cache.h"
#include "base/log.h"

namespace stoa {
namespace {

using namespace blob_local;
using core::BlobId;

constexpr std::uint64_t kGrowthBytesMin = 4u << 20;
constexpr std::uint32_t kGrowthSlotsMin = 4;
constexpr std::uint64_t kAllocateAheadBytesMin = 256u << 10;  // writes from this size on mean a stream
constexpr std::uint64_t kHostBlockBytes = 4096;

std::uint32_t growth_slots(unsigned size_class) {
  return std::max(kGrowthSlotsMin, static_cast<std::uint32_t>(kGrowthBytesMin / slot_bytes(size_class)));
}

class Store final : public LocalBlobStore {
 public:
  Store(const LocalBlobStoreOptions& options, std::vector<std::unique_ptr<DataDirectory>> directories,
        MetricRegistry& metrics)
      : io_(options.io != nullptr ? *options.io : real_host_io()),
        directories_(std::move(directories)),
        sweep_all_(options.sweep_all),
        buffers_(metrics.gauge("stoa_blob_pooled_buffers", "Aligned buffers of 1 MiB kept for reuse")),
        file_metrics_{
            metrics.counter("stoa_blob_written_bytes_total", "Bytes written to host files", {{"path", "direct"}}),
            metrics.counter("stoa_blob_written_bytes_total", "Bytes written to host files", {{"path", "page_cache"}}),
            metrics.counter("stoa_blob_syncs_total", "fdatasync calls on host files"),
            metrics.counter("stoa_blob_syncs_skipped_total", "Syncs of host files that were clean")},
        read_bytes_(metrics.counter("stoa_blob_read_bytes_total", "Bytes read from host files")),
        reserved_(metrics.counter("stoa_blob_reserved_total", "Blobs reserved")),
        released_(metrics.counter("stoa_blob_released_total", "Blobs released")),
        slots_taken_(metrics.gauge("stoa_blob_slots_taken", "Slots of containers in use")),
        files_(options.open_files_max, metrics),
        written_(options.written_cache_bytes, metrics) {}

  bool begin_adoption() override { return true; }
  Status adopt(BlobId blob) override;
  Status finish_adoption() override;
  Result<BlobId> reserve(std::uint64_t bytes) override;
  std::uint64_t capacity(BlobId blob) const override { return BlobName::of(blob).capacity(); }
  Status read(BlobId blob, std::uint64_t offset, std::span<std::byte> into) override;
  Status write(BlobId blob, std::uint64_t offset, core::ConstBuffers data) override {
    return put(blob, offset, data, {});
  }
  Status write_lent(BlobId blob, std::uint64_t offset, std::span<const std::byte> bytes,
                    const core::LentMemory& memory) override {
    return put(blob, offset, std::span(&bytes, 1), memory);
  }
  std::vector<core::DataSlice> lately_written(BlobId blob, std::uint64_t offset, std::uint64_t length) override {
    return written_.find(blob, offset, length);
  }
  Result<core::DataSlice> slice(BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Status sync(std::span<const BlobId> blobs) override;
  Status punch(BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Status allocate(BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Result<std::uint64_t> seek(BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) override;
  Result<std::uint64_t> allocated(BlobId blob, std::uint64_t length) override;
  Status release(BlobId blob) override;
  Space space() const override;
  std::vector<DirectoryHealth> health() const override;
  core::KeptBlobs kept() const override { return adopted_.load(std::memory_order_acquire) ? kept_ : core::KeptBlobs{}; }
  void for_each(const std::function<void(BlobId)>& visit) const override;
  bool holds(BlobId blob) const override;

 private:
  HostFile::Environment environment(DataDirectory& directory) {
    return {io_, buffers_, file_metrics_, directory.direct};
  }
  Result<BlobName> name_of(BlobId blob) const;
  Result<std::shared_ptr<HostFile>> open_file(const BlobName& name);
  // The blob's host file and where [offset, offset + length) is in it.
  struct Place {
    std::shared_ptr<HostFile> file;
    std::uint64_t at;
    BlobName name;
    DataDirectory* directory;
  };
  Status put(BlobId blob, std::uint64_t offset, core::ConstBuffers data, const core::LentMemory& memory);
  Result<Place> locate(BlobId blob, std::uint64_t offset, std::uint64_t length);

  Result<BlobId> reserve_slot(DataDirectory& directory, unsigned size_class);
  Result<BlobId> reserve_own(DataDirectory& directory);
  Status grow_container(DataDirectory& directory, unsigned size_class);
  Status release_slot(DataDirectory& directory, const BlobName& name);
  Status remove_container(DataDirectory& directory, unsigned size_class, std::uint64_t number);
  Status remove_empty_containers(DataDirectory& directory);
  std::vector<DataDirectory*> placement_order();

  HostIo& io_;
  std::vector<std::unique_ptr<DataDirectory>> directories_;
  const bool sweep_all_;
  core::KeptBlobs kept_;  // written by finish_adoption() alone, before adopted_
  BufferPool buffers_;
  FileMetrics file_metrics_;
  Counter& read_bytes_;
  Counter& reserved_;
  Counter& released_;
  Gauge& slots_taken_;
  FileCache files_;
  WrittenCache written_;
  SyncPool syncs_;
  std::atomic<bool> adopted_{false};
  std::atomic<std::uint64_t> turn_{0};
};

Result<BlobName> Store::name_of(BlobId blob) const {
  const BlobName name = BlobName::of(blob);
  if (name.kind == BlobKind::kNone) return fail(Errc::kCorrupt, "no name of a blob");
  if (name.directory >= directories_.size()) {
    return fail(Errc::kCorrupt,
                "a blob lies in data directory " + std::to_string(name.directory) + ", which is not here");
  }
  return name;
}

Result<std::shared_ptr<HostFile>> Store::open_file(const BlobName& name) {
  DataDirectory& directory = *directories_[name.directory];
  return files_.get(HostFileKey::of(name), [&]() -> Result<std::shared_ptr<HostFile>> {
    const std::string path = name.kind == BlobKind::kSlot ? directory.container_path(name.size_class, name.number)
                                                          : directory.own_path(name.number);
    auto opened = HostFile::open(environment(directory), path, HostFile::Open::kExisting);
    if (!opened && opened.error().code == Errc::kNotFound) {
      directory.note_missing(path);
      return fail(Errc::kCorrupt, "the host file is gone: " + path);
    }
    return opened;
  });
}

Result<Store::Place> Store::locate(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  STOA_TRY(name, name_of(blob));
  const std::uint64_t capacity = name.capacity();
  if (offset > capacity || length > capacity - offset) return fail(Errc::kInvalid, "behind the end of a blob");
  STOA_TRY(file, open_file(name));
  return Place{std::move(file), name.base() + offset, name, directories_[name.directory].get()};
}

// --- life of a blob
// ----------------------------------------------------------------------------------------------------

Status Store::adopt(BlobId blob) {
  STOA_TRY(name, name_of(blob));
  DataDirectory& directory = *directories_[name.directory];
  const std::lock_guard lock(directory.mutex);
  if (name.kind == BlobKind::kOwn) {
    directory.adopted_own.push_back(name.number);
    return {};
  }
  const std::uint64_t before = directory.slots.slots_taken();
  const bool present = directory.slots.is_closed(name.size_class, name.number) &&
                       directory.slots.adopt({name.size_class, name.number, name.slot});
  slots_taken_.add(static_cast<std::int64_t>(directory.slots.slots_taken() - before));
  if (!present) {
    directory.note_missing(directory.container_path(name.size_class, name.number));
    return fail(Errc::kCorrupt,
                "a blob's container is gone: " + directory.container_path(name.size_class, name.number));
  }
  return {};
}

Status Store::finish_adoption() {
  STOA_TRY(kept, sweep_unnamed(directories_, sweep_all_));
  kept_ = kept;
  slots_taken_.add(static_cast<std::int64_t>(kept.slots));
  for (const auto& directory : directories_) {
    // No reason to sweep again: the set of adopted blobs is gone.
    if (const Status removed = remove_empty_containers(*directory); !removed)
      log_warning("blob", "an empty container could not be removed", {{"error", describe(removed.error())}});
    const std::lock_guard lock(directory->mutex);
    directory->slots.open_all();
    directory->adopted_own = {};
  }
  adopted_.store(true, std::memory_order_release);
  return {};
}

Status Store::remove_empty_containers(DataDirectory& directory) {
  std::vector<std::pair<unsigned, std::uint64_t>> empty;
  {
    const std::lock_guard lock(directory.mutex);
    empty = directory.slots.empty_containers();
    for (const auto& [size_class, number] : empty) directory.slots.forget(size_class, number);
  }
  for (const auto& [size_class, number] : empty) STOA_CHECK_OK(remove_container(directory, size_class, number));
  return {};
}

std::vector<DataDirectory*> Store::placement_order() {
  // In turn, weighted by free space: the directory that gets the turn first, then the others by free space.
  std::vector<std::pair<std::uint64_t, DataDirectory*>> candidates;
  std::uint64_t sum = 0;
  for (const auto& directory : directories_) {
    if (!directory->ok()) continue;
    const std::uint64_t free = directories_.size() == 1 ? 1 : directory->space().free >> 20;
    candidates.emplace_back(free, directory.get());
    sum += free;
  }
  std::ranges::sort(candidates, std::greater<>{}, [](const auto& item) { return item.first; });
  if (candidates.size() > 1 && sum > 0) {
    std::uint64_t point = (turn_.fetch_add(1, std::memory_order_relaxed) * 0x9E3779B97F4A7C15ULL >> 20) % sum;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (point < candidates[i].first) {
        std::swap(candidates[0], candidates[i]);
        break;
      }
      point -= candidates[i].first;
    }
  }
  std::vector<DataDirectory*> order;
  for (const auto& [free, directory] : candidates) order.push_back(directory);
  return order;
}

Result<BlobId> Store::reserve(std::uint64_t bytes) {
  const unsigned size_class = size_class_for(bytes);
  Result<BlobId> result = fail(Cause::kBlobNoneHealthy);
  const auto try_in = [&](DataDirectory& directory) {
    result = size_class < kSizeClasses ? reserve_slot(directory, size_class) : reserve_own(directory);
    if (result) {
      reserved_.add();
      return true;
    }
    directory.note_write_error(result.error());
    return false;
  };
  if (directories_.size() == 1 && directories_[0]->ok()) {
    try_in(*directories_[0]);
    return result;
  }
  for (DataDirectory* directory : placement_order()) {
    if (try_in(*directory)) break;
  }
  return result;
}

Result<BlobId> Store::reserve_slot(DataDirectory& directory, unsigned size_class) {
  std::optional<SlotMap::Taken> taken;
  {
    const std::lock_guard lock(directory.mutex);
    taken = directory.slots.take(size_class);
  }
  while (!taken) {
    const std::lock_guard growing(directory.grow_mutex);
    {
      const std::lock_guard lock(directory.mutex);
      taken = directory.slots.take(size_class);
    }
    if (taken) break;
    STOA_CHECK_OK(grow_container(directory, size_class));
  }
  const BlobName name{BlobKind::kSlot, directory.index(), size_class, taken->slot.container, taken->slot.slot};
  if (!taken->ready) {
    // Another blob's bytes may be there (released, or reserved before a crash), or a hole without space behind it.
    const Status zeroed = [&]() -> Status {
      if (!directory.has_room(slot_bytes(size_class))) return fail(Cause::kBlobFull, directory.path());
      STOA_TRY(file, open_file(name));
      return file->zero(name.base(), slot_bytes(size_class));
    }();
    if (!zeroed) {
      const std::lock_guard lock(directory.mutex);
      directory.slots.give_back(taken->slot, false);
      return fail(zeroed.error());
    }
  }
  slots_taken_.add(1);
  return name.id();
}

Status Store::grow_container(DataDirectory& directory, unsigned size_class) {
  SlotMap::Growth growth{};
  {
    const std::lock_guard lock(directory.mutex);
    growth = directory.slots.next_growth(size_class);
  }
  const std::uint32_t slots = std::min(growth.slots + growth_slots(size_class), slots_per_container(size_class));
  const std::uint64_t from = growth.slots * slot_bytes(size_class);
  const std::uint64_t bytes = slots * slot_bytes(size_class) - from;
  if (!directory.has_room(bytes)) return fail(Cause::kBlobFull, directory.path());
  const BlobName name{BlobKind::kSlot, directory.index(), size_class, growth.container, 0};
  std::shared_ptr<HostFile> file;
  if (growth.slots == 0) {
    const std::string path = directory.container_path(size_class, growth.container);
    auto made = HostFile::open(environment(directory), path, HostFile::Open::kCreate);
    // A container that could not be grown after it was made is taken up again.
    if (!made && made.error().code == Errc::kExists) {
      made = HostFile::open(environment(directory), path, HostFile::Open::kExisting);
    }
    STOA_CHECK_OK(made);
    file = *made;
    files_.insert(HostFileKey::of(name), file);
  } else {
    STOA_TRY(opened, open_file(name));
    file = opened;
  }
  STOA_CHECK_OK(file->zero(from, bytes));
  const std::lock_guard lock(directory.mutex);
  directory.slots.set_container(size_class, growth.container, slots, true);
  return {};
}

Result<BlobId> Store::reserve_own(DataDirectory& directory) {
  if (!directory.has_room(kSlotBytesMax)) return fail(Cause::kBlobFull, directory.path());
  STOA_TRY(number, directory.next_own_number());
  const BlobName name{BlobKind::kOwn, directory.index(), 0, number, 0};
  auto made = HostFile::open(environment(directory), directory.own_path(number), HostFile::Open::kCreate);
  if (!made && made.error().code == Errc::kNotFound) {
    STOA_CHECK_OK(directory.make_own_folder(number));
    made = HostFile::open(environment(directory), directory.own_path(number), HostFile::Open::kCreate);
  }
  if (!made) return fail(made.error());
  files_.insert(HostFileKey::of(name), std::move(*made));
  return name.id();
}

Status Store::release(BlobId blob) {
  STOA_TRY(name, name_of(blob));
  DataDirectory& directory = *directories_[name.directory];
  const WrittenCache::Change change(written_, blob, 0, name.capacity());
  released_.add();
  if (name.kind == BlobKind::kSlot) return release_slot(directory, name);
  files_.erase(HostFileKey::of(name));
  if (::unlink(directory.own_path(name.number).c_str()) != 0 && errno != ENOENT) {
    return fail_errno(errno, "remove " + directory.own_path(name.number));
  }
  return {};
}

Status Store::release_slot(DataDirectory& directory, const BlobName& name) {
  const SlotRef slot{name.size_class, name.number, name.slot};
  {
    const std::lock_guard lock(directory.mutex);
    if (!directory.slots.taken(slot)) return {};
  }
  STOA_TRY(file, open_file(name));
  const Status punched = file->punch(name.base(), slot_bytes(name.size_class));
  if (!punched) {
    directory.note_write_error(punched.error());
    // Without its space back the slot is still free; it is zeroed before it is used again.
    if (punched.error().sys_errno != EOPNOTSUPP) {
      log_warning("blob", "a slot's space could not be given back", {{"error", describe(punched.error())}});
    }
  }
  bool maybe_empty = false;
  {
    const std::lock_guard lock(directory.mutex);
    if (directory.slots.give_back(slot, false)) slots_taken_.add(-1);
    maybe_empty = directory.slots.is_empty(slot.size_class, slot.container);
  }
  if (!maybe_empty) return {};
  // No other thread may grow the container while it goes; a container being grown now stays.
  const std::unique_lock growing(directory.grow_mutex, std::try_to_lock);
  if (!growing.owns_lock()) return {};
  {
    const std::lock_guard lock(directory.mutex);
    if (!directory.slots.drop_if_empty(slot.size_class, slot.container)) return {};
  }
  return remove_container(directory, slot.size_class, slot.container);
}

Status Store::remove_container(DataDirectory& directory, unsigned size_class, std::uint64_t number) {
  files_.erase(HostFileKey::of({BlobKind::kSlot, directory.index(), size_class, number, 0}));
  const std::string path = directory.container_path(size_class, number);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(errno, "remove " + path);
  return {};
}

// --- bytes
// -------------------------------------------------------------------------------------------------------------

Status Store::read(BlobId blob, std::uint64_t offset, std::span<std::byte> into) {
  STOA_TRY(place, locate(blob, offset, into.size()));
  STOA_CHECK_OK(place.file->read(place.at, into));
  read_bytes_.add(into.size());
  return {};
}

Status Store::put(BlobId blob, std::uint64_t offset, core::ConstBuffers data, const core::LentMemory& memory) {
  std::uint64_t total = 0;
  for (const auto& piece : data) total += piece.size();
  STOA_TRY(place, locate(blob, offset, total));
  if (place.name.kind == BlobKind::kOwn && place.at + total > place.file->size()) {
    if (!place.directory->has_room(total)) return fail(Cause::kBlobFull, place.directory->path());
    if (total >= kAllocateAheadBytesMin) place.file->allocate_ahead(place.at, total);
  }
  WrittenCache::Change change(written_, blob, offset, total);
  const Status written = place.file->write(place.at, data, total);
  if (!written) place.directory->note_write_error(written.error());
  // Shorter ones are in the page cache.
  if (written && memory.owner != nullptr && total >= kDirectBytesMin) change.keep(data[0], memory);
  return written;
}

Result<core::DataSlice> Store::slice(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  STOA_TRY(place, locate(blob, offset, length));
  // sendfile stops at the end of the host file, where read() goes on with zeros.
  STOA_CHECK_OK(place.file->extend(place.at + length));
  const int fd = place.file->fd();
  read_bytes_.add(length);
  return core::DataSlice{.fd = fd, .file_offset = place.at, .length = length, .keep = std::move(place.file)};
}

Status Store::sync(std::span<const BlobId> blobs) {
  std::vector<std::shared_ptr<HostFile>> files;
  std::set<std::pair<HostFile*, std::uint32_t>> known;
  std::vector<std::uint32_t> directories;
  for (const BlobId blob : blobs) {
    STOA_TRY(name, name_of(blob));
    STOA_TRY(file, open_file(name));
    if (!file->dirty() && !file->failed()) {
      file_metrics_.syncs_skipped.add();
      continue;
    }
    if (known.emplace(file.get(), name.directory).second) {
      files.push_back(std::move(file));
      directories.push_back(name.directory);
    }
  }
  const Status synced = syncs_.sync(files);
  if (!synced) {
    // The state on the disk is unknown, so cached bytes must not claim otherwise.
    for (const BlobId blob : blobs) const WrittenCache::Change forgotten(written_, blob, 0, capacity(blob));
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i]->failed()) directories_[directories[i]]->note_write_error(synced.error());
    }
  }
  return synced;
}

Status Store::punch(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  STOA_TRY(place, locate(blob, offset, length));
  const WrittenCache::Change change(written_, blob, offset, length);
  const Status punched = place.file->punch(place.at, length);
  if (!punched) place.directory->note_write_error(punched.error());
  return punched;
}

Status Store::allocate(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  STOA_TRY(place, locate(blob, offset, length));
  if (length == 0) return {};
  if (!place.directory->has_room(length)) return fail(Cause::kBlobFull, place.directory->path());
  const Status allocated = place.file->allocate(place.at, length, place.name.kind == BlobKind::kOwn);
  if (!allocated) place.directory->note_write_error(allocated.error());
  return allocated;
}

Result<std::uint64_t> Store::seek(BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) {
  if (offset >= end) return end;
  STOA_TRY(place, locate(blob, offset, end - offset));
  const std::uint64_t base = place.at - offset;
  STOA_TRY(found, place.file->seek(place.at, base + end, data));
  return found - base;
}

Result<std::uint64_t> Store::allocated(BlobId blob, std::uint64_t length) {
  STOA_TRY(place, locate(blob, 0, length));
  if (place.name.kind == BlobKind::kOwn) {
    STOA_TRY(bytes, place.file->allocated_bytes());
    return std::min(bytes, (length + kHostBlockBytes - 1) / kHostBlockBytes * kHostBlockBytes);
  }
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < length;) {
    STOA_TRY(data, place.file->seek(place.at + at, place.at + length, true));
    STOA_TRY(hole, place.file->seek(data, place.at + length, false));
    if (data >= place.at + length) break;
    sum += hole - data;
    at = hole - place.at;
  }
  return (sum + kHostBlockBytes - 1) / kHostBlockBytes * kHostBlockBytes;
}

// --- queries of an administrator
// ------------------------------------------------------------------------------------------

core::BlobStore::Space Store::space() const {
  Space sum;
  std::set<dev_t> devices;
  for (const auto& directory : directories_) {
    struct stat info{};
    if (::stat(directory->path().c_str(), &info) != 0 || !devices.insert(info.st_dev).second) continue;
    const Space space = directory->space();
    sum.total += space.total;
    if (directory->ok()) sum.free += space.free;
  }
  return sum;
}

std::vector<core::BlobStore::DirectoryHealth> Store::health() const {
  std::vector<DirectoryHealth> all;
  for (const auto& directory : directories_) {
    std::string problem = directory->find_problem();
    const bool ok = problem.empty();
    all.push_back({directory->path(), ok, std::move(problem), directory->space()});
  }
  return all;
}

void Store::for_each(const std::function<void(BlobId)>& visit) const {
  for (const auto& directory : directories_) {
    std::vector<BlobId> slots;
    {
      const std::lock_guard lock(directory->mutex);
      directory->slots.for_each_taken([&](const SlotRef& slot) {
        slots.push_back(BlobName{BlobKind::kSlot, directory->index(), slot.size_class, slot.container, slot.slot}.id());
      });
    }
    for (const BlobId blob : slots) visit(blob);
    const Status listed = directory->for_each_own(
        [&](std::uint64_t number) { visit(BlobName{BlobKind::kOwn, directory->index(), 0, number, 0}.id()); });
    if (!listed) log_error("blob", "own files could not be listed", {{"error", describe(listed.error())}});
  }
}

bool Store::holds(BlobId blob) const {
  const auto name = name_of(blob);
  if (!name) return false;
  DataDirectory& directory = *directories_[name->directory];
  if (name->kind == BlobKind::kOwn) return ::access(directory.own_path(name->number).c_str(), F_OK) == 0;
  const std::lock_guard lock(directory.mutex);
  return directory.slots.taken({name->size_class, name->number, name->slot});
}

}  // namespace

Status LocalBlobStore::require_new(const std::vector<std::string>& directories) {
  return require_new_directories(directories);
}

Result<std::unique_ptr<LocalBlobStore>> LocalBlobStore::open(const LocalBlobStoreOptions& options,
                                                             MetricRegistry& metrics) {
  STOA_TRY(directories, open_directories(options));
  return std::unique_ptr<LocalBlobStore>(std::make_unique<Store>(options, std::move(directories), metrics));
}

}  // namespace stoa

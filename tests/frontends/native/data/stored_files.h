// A server in memory and leases on it, for tests of what is buffered above.
#pragma once

#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "frontends/native/cache/held_lease.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::data {

inline core::FileId file_id(std::uint64_t number) {
  return core::FileId{number};
}

// Files by number, made when they are opened by it. Only what BufferedStorage asks for is there. Thread-safe.
class StoredFiles : public Storage {
 public:
  struct Stored {
    std::vector<std::byte> bytes;
    std::uint64_t change = 1;
    Timestamp mtime{};
    bool uncommitted = false;
  };
  struct Counts {
    std::uint64_t reads = 0, read_messages = 0, writes = 0, messages = 0, commits = 0, closes = 0, statfs = 0;
    std::size_t largest_write = 0;
  };

  // Asked before each write; an error is its result. Called with no lock held.
  std::function<Status(core::FileId, std::uint64_t offset, std::size_t length)> before_write{};
  std::function<Status(core::FileId)> before_read{};
  std::function<Status(core::FileId)> before_commit{};
  std::uint64_t available = std::uint64_t{1} << 40;
  std::size_t write_most = ~std::size_t{0};  // what one write takes at most
  // Leases under which writes may come.
  std::set<std::uint64_t> valid_leases;  // guarded by mutex_, see allow()

  void allow(std::uint64_t lease, bool valid) {
    const std::lock_guard lock(mutex_);
    if (valid) valid_leases.insert(lease);
    if (!valid) valid_leases.erase(lease);
  }
  Stored stored(core::FileId id) {
    const std::lock_guard lock(mutex_);
    return files_[id];
  }
  Counts counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  std::size_t open_count() {
    const std::lock_guard lock(mutex_);
    return opens_.size();
  }
  void put(core::FileId id, std::vector<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    files_[id].bytes = std::move(bytes);
    ++files_[id].change;
  }

  core::FileId root() const override { return core::kRootId; }
  Result<core::Attributes> lookup(const Asker&, core::FileId, std::string_view name) override {
    return attributes(file_id(std::stoull(std::string(name))));
  }
  Result<core::Attributes> getattr(const Asker&, core::FileId id) override { return attributes(id); }
  Result<core::Attributes> setattr(const Asker&, core::FileId id, OpenNumber, const core::SetAttributes& set) override {
    const std::lock_guard lock(mutex_);
    if (set.size) files_[id].bytes.resize(*set.size);
    changed(id);
    if (set.mtime) files_[id].mtime = set.mtime->time;
    return of(id);
  }
  Result<std::uint32_t> access(const Asker&, core::FileId, std::uint32_t wanted) override { return wanted; }
  Result<std::string> readlink(const Asker&, core::FileId) override { return fail(Errc::kInvalid); }
  Result<core::StatfsReply> statfs(const Asker&, core::FileId) override {
    const std::lock_guard lock(mutex_);
    ++counts_.statfs;
    return core::StatfsReply{.bytes_total = available, .bytes_free = available, .bytes_available = available};
  }
  Result<core::Attributes> mkdir(const Asker&, const core::MkdirRequest&) override { return fail(Errc::kNotSupported); }
  Result<core::Attributes> mknod(const Asker&, const core::MknodRequest&) override { return fail(Errc::kNotSupported); }
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override {
    STOA_TRY(attr, lookup(asker, request.parent, request.name));
    return request.set.size ? setattr(asker, attr.id, 0, request.set) : Result<core::Attributes>(attr);
  }
  Result<core::Attributes> symlink(const Asker&, const core::SymlinkRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::Attributes> link(const Asker&, const core::LinkRequest& request) override {
    return attributes(request.id);
  }
  Status unlink(const Asker&, const core::RemoveRequest&) override { return {}; }
  Status rmdir(const Asker&, const core::RemoveRequest&) override { return {}; }
  Status rename(const Asker&, const core::RenameRequest&) override { return {}; }
  Result<StorageEntries> readdir(const Asker&, const core::ReaddirRequest&) override {
    const std::lock_guard lock(mutex_);
    StorageEntries all{.end = true};
    for (const auto& [id, file] : files_) all.entries.push_back({.id = id, .attr = of(id)});
    return all;
  }
  Result<StorageOpen> open(const Asker&, const core::OpenRequest& request) override {
    const std::lock_guard lock(mutex_);
    const core::FileId id = request.id != core::kNoFile ? request.id : file_id(std::stoull(std::string(request.name)));
    using enum core::OpenDisposition;
    if (request.disposition == kOverwrite || request.disposition == kOverwriteOrCreate) {
      files_[id].bytes.clear();
      changed(id);
    }
    opens_.insert(++last_open_);
    return StorageOpen{last_open_, of(id)};
  }
  void close(const Asker&, OpenNumber open) override {
    const std::lock_guard lock(mutex_);
    ++counts_.closes;
    opens_.erase(open);
  }
  Result<std::size_t> read(const Asker&, core::FileId id, OpenNumber, std::uint64_t offset,
                           std::span<std::byte> into) override {
    if (before_read) STOA_CHECK_OK(before_read(id));
    const std::lock_guard lock(mutex_);
    ++counts_.reads;
    const auto& bytes = files_[id].bytes;
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t length = std::min<std::uint64_t>(into.size(), bytes.size() - offset);
    std::memcpy(into.data(), bytes.data() + offset, length);
    return length;
  }
  std::vector<Result<std::size_t>> read_all(const Asker& asker, std::span<const StorageRead> reads) override {
    std::size_t bytes = 0;
    for (const StorageRead& one : reads) bytes += one.into.size();
    {
      const std::lock_guard lock(mutex_);
      ++counts_.read_messages;
      if (reads.size() > kReadsMost || bytes > kWriteBytesMost) too_large_ = true;
    }
    return Storage::read_all(asker, reads);
  }
  Result<StorageWritten> write(const Asker&, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay way) override {
    if (before_write) STOA_CHECK_OK(before_write(id, offset, data.size()));
    const std::lock_guard lock(mutex_);
    ++counts_.messages;
    return take(id, open, offset, data, way);
  }
  std::vector<Result<StorageWritten>> write_all(const Asker&, std::span<const StorageWrite> writes) override {
    std::vector<Result<StorageWritten>> results;
    std::size_t bytes = 0;
    for (const StorageWrite& one : writes) {
      bytes += one.data.size();
      const Status may = before_write ? before_write(one.id, one.offset, one.data.size()) : Status{};
      const std::lock_guard lock(mutex_);
      results.push_back(may ? take(one.id, one.open, one.offset, one.data, {.durable = one.durable, .lease = one.lease})
                            : Result<StorageWritten>(fail(may.error())));
      if (one.closes) opens_.erase(one.open);
    }
    const std::lock_guard lock(mutex_);
    ++counts_.messages;
    if (writes.size() > kWritesMost || bytes > kWriteBytesMost) too_large_ = true;
    return results;
  }
  Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open, std::span<const std::byte> data,
                                bool durable) override {
    return write(asker, id, open, stored(id).bytes.size(), data, {.durable = durable});
  }
  Status commit(const Asker&, core::FileId id, OpenNumber) override {
    if (before_commit) STOA_CHECK_OK(before_commit(id));
    const std::lock_guard lock(mutex_);
    ++counts_.commits;
    files_[id].uncommitted = false;
    return {};
  }
  Status allocate(const Asker&, const core::RangeRequest& range, OpenNumber) override {
    const std::lock_guard lock(mutex_);
    auto& bytes = files_[range.id].bytes;
    if (bytes.size() < range.offset + range.length) bytes.resize(range.offset + range.length);
    changed(range.id);
    return {};
  }
  Status zero(const Asker&, const core::RangeRequest& range, OpenNumber) override { return clear(range); }
  Status punch(const Asker&, const core::RangeRequest& range, OpenNumber) override { return clear(range); }
  Result<std::uint64_t> seek(const Asker&, const core::SeekRequest& request) override {
    const std::lock_guard lock(mutex_);
    if (request.offset >= files_[request.id].bytes.size()) return fail(Errc::kNoMoreData);
    return request.offset;
  }
  Result<std::uint64_t> copy_range(const Asker&, const core::CopyRangeRequest& request, OpenNumber,
                                   OpenNumber) override {
    const std::lock_guard lock(mutex_);
    const auto& from = files_[request.from].bytes;
    auto& to = files_[request.to].bytes;
    if (to.size() < request.to_offset + request.length) to.resize(request.to_offset + request.length);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(request.from_offset), request.length,
                to.begin() + static_cast<std::ptrdiff_t>(request.to_offset));
    changed(request.to);
    return request.length;
  }
  Result<std::string> get_xattr(const Asker&, const core::GetXattrRequest&) override {
    return fail(Errc::kNoAttribute);
  }
  Status set_xattr(const Asker&, const core::SetXattrRequest&) override { return {}; }
  Result<std::vector<std::string>> list_xattrs(const Asker&, core::FileId) override {
    return std::vector<std::string>{};
  }
  Status remove_xattr(const Asker&, const core::RemoveXattrRequest&) override { return {}; }
  Result<std::optional<StorageLock>> lock(const Asker&, const StorageLock&, bool) override {
    return std::optional<StorageLock>{};
  }
  Result<std::optional<StorageLock>> test_lock(const Asker&, const StorageLock&) override {
    return std::optional<StorageLock>{};
  }
  Status unlock(const Asker&, const StorageLock&) override { return {}; }

  bool saw_too_large() {
    const std::lock_guard lock(mutex_);
    return too_large_;
  }

 private:
  Result<StorageWritten> take(core::FileId id, OpenNumber open, std::uint64_t offset, std::span<const std::byte> data,
                              WriteWay way) {
    ++counts_.writes;
    counts_.largest_write = std::max(counts_.largest_write, data.size());
    if (data.size() > kWriteBytesMost) too_large_ = true;
    if (way.lease != 0 && !valid_leases.contains(way.lease)) return fail(Errc::kLeaseLost);
    if (open != 0 && !opens_.contains(open)) return fail(Errc::kStale);
    data = data.first(std::min(data.size(), write_most));
    Stored& file = files_[id];
    if (file.bytes.size() < offset + data.size()) file.bytes.resize(offset + data.size());
    std::memcpy(file.bytes.data() + offset, data.data(), data.size());
    file.uncommitted = file.uncommitted || !way.durable;
    changed(id);
    return StorageWritten{data.size(), of(id)};
  }
  Status clear(const core::RangeRequest& range) {
    const std::lock_guard lock(mutex_);
    auto& bytes = files_[range.id].bytes;
    for (std::uint64_t at = range.offset; at < std::min<std::uint64_t>(bytes.size(), range.offset + range.length);
         ++at) {
      bytes[at] = {};
    }
    changed(range.id);
    return {};
  }
  void changed(core::FileId id) {
    ++files_[id].change;
    files_[id].mtime = wall_now();
  }
  core::Attributes attributes(core::FileId id) {
    const std::lock_guard lock(mutex_);
    return of(id);
  }
  core::Attributes of(core::FileId id) {
    const Stored& file = files_[id];
    core::Attributes attr;
    attr.id = id;
    attr.size = file.bytes.size();
    attr.change = file.change;
    attr.mtime = attr.ctime = file.mtime;
    return attr;
  }

  std::mutex mutex_;  // guards all below
  std::map<core::FileId, Stored> files_;
  std::set<OpenNumber> opens_;
  OpenNumber last_open_ = 0;
  Counts counts_;
  bool too_large_ = false;
};

// One lease for all files, that can be recalled as LeasedStorage does it.
class OneLease : public LeaseCovers {
 public:
  explicit OneLease(StoredFiles& server) : server_(server) {}

  void grant(std::uint32_t bits) {
    const std::lock_guard lock(mutex_);
    lease_ = {.number = ++last_, .file = file_id(1), .bits = bits};
    server_.allow(last_, true);
  }
  // Until it returns there is no pin; then nothing is kept under the lease. False: there was none.
  bool recall(KeptUnderLeases& kept) {
    const HeldLease lease = take_away();
    if (lease.number == 0) return false;
    kept.write_back(lease, core::kNoFile);
    kept.forget(lease, core::kNoFile);
    server_.allow(lease.number, false);
    return true;
  }
  // The server has taken it.
  void lose(KeptUnderLeases& kept) {
    const HeldLease lease = take_away();
    server_.allow(lease.number, false);
    kept.lose(lease);
    kept.forget(lease, core::kNoFile);
  }

  std::optional<LeasePin> pin(core::FileId, std::uint32_t bits) override {
    const std::lock_guard lock(mutex_);
    if (lease_.number == 0 || (lease_.bits & bits) != bits) return std::nullopt;
    ++pins_;
    const std::shared_ptr<void> hold(nullptr, [this](void*) {
      const std::lock_guard guard(mutex_);
      --pins_;
      unpinned_.notify_all();
    });
    return LeasePin(lease_, hold);
  }
  void want(const core::Credentials&, core::FileId, std::uint32_t) override {}
  // Set by a test before there are reads: the listing, with the sizes that are believed. Cookies count from 1.
  std::vector<ListedFile> listing{};
  std::set<core::FileId> opened{};  // of those
  Listed listed(const core::Credentials&, core::FileId, const ListedWish& wish) override {
    Listed found{.next = wish.after, .entries = listing.size()};
    std::uint64_t bytes = 0;
    std::size_t looks = 0;
    for (; found.next < listing.size() && looks < wish.entries_most; ++found.next, ++looks) {
      const ListedFile& one = listing[found.next];
      if (one.size == 0 || one.size > wish.size_most || (opened.contains(one.id) && !wish.opened)) continue;
      if (found.files.size() >= wish.files_most || bytes + one.size > wish.bytes_most) break;
      bytes += one.size;
      found.files.push_back(one);
    }
    found.end = found.next == listing.size();
    return found;
  }
  std::uint64_t place_in_listing(core::FileId, core::FileId file) override {
    const auto at = std::ranges::find(listing, file, &ListedFile::id);
    return at == listing.end() ? 0 : static_cast<std::uint64_t>(at - listing.begin()) + 1;
  }

 private:
  HeldLease take_away() {
    std::unique_lock lock(mutex_);
    const HeldLease lease = std::exchange(lease_, {});
    unpinned_.wait(lock, [&] { return pins_ == 0; });
    return lease;
  }

  StoredFiles& server_;
  std::mutex mutex_;  // guards all below
  std::condition_variable unpinned_;
  HeldLease lease_{};
  std::uint64_t last_ = 0;
  std::size_t pins_ = 0;
};

}  // namespace stoa::native::data

// A storage on top of another: passes everything on. A layer overrides what it knows better.
#pragma once

#include "frontends/native/storage/storage.h"

namespace stoa::native {

class ForwardingStorage : public Storage {
 public:
  // `below` outlives it.
  explicit ForwardingStorage(Storage& below) : below_(below) {}
  core::FileId root() const override { return below_.root(); }
  Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) override {
    return below_.lookup(asker, parent, name);
  }
  Result<core::Attributes> getattr(const Asker& asker, core::FileId id) override { return below_.getattr(asker, id); }
  Result<core::Attributes> setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                   const core::SetAttributes& set) override {
    return below_.setattr(asker, id, open, set);
  }
  Result<std::uint32_t> access(const Asker& asker, core::FileId id, std::uint32_t wanted) override {
    return below_.access(asker, id, wanted);
  }
  Result<std::string> readlink(const Asker& asker, core::FileId id) override { return below_.readlink(asker, id); }
  Result<core::StatfsReply> statfs(const Asker& asker, core::FileId id) override { return below_.statfs(asker, id); }
  Result<core::Attributes> mkdir(const Asker& asker, const core::MkdirRequest& request) override {
    return below_.mkdir(asker, request);
  }
  Result<core::Attributes> mknod(const Asker& asker, const core::MknodRequest& request) override {
    return below_.mknod(asker, request);
  }
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override {
    return below_.create(asker, request);
  }
  Result<core::Attributes> symlink(const Asker& asker, const core::SymlinkRequest& request) override {
    return below_.symlink(asker, request);
  }
  Result<core::Attributes> link(const Asker& asker, const core::LinkRequest& request) override {
    return below_.link(asker, request);
  }
  Status unlink(const Asker& asker, const core::RemoveRequest& request) override {
    return below_.unlink(asker, request);
  }
  Status rmdir(const Asker& asker, const core::RemoveRequest& request) override { return below_.rmdir(asker, request); }
  Status rename(const Asker& asker, const core::RenameRequest& request) override {
    return below_.rename(asker, request);
  }
  Status open_directory(const Asker& asker, core::FileId dir) override { return below_.open_directory(asker, dir); }
  Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) override {
    return below_.readdir(asker, request);
  }
  Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) override {
    return below_.open(asker, request);
  }
  void close(const Asker& asker, OpenNumber open) override { below_.close(asker, open); }
  Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                           std::span<std::byte> into) override {
    return below_.read(asker, id, open, offset, into);
  }
  Result<StorageBytes> read_to_keep(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                    std::size_t length) override {
    return below_.read_to_keep(asker, id, open, offset, length);
  }
  std::vector<Result<std::size_t>> read_all(const Asker& asker, std::span<const StorageRead> reads) override {
    return below_.read_all(asker, reads);
  }
  Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay way) override {
    return below_.write(asker, id, open, offset, data, way);
  }
  std::vector<Result<StorageWritten>> write_all(const Asker& asker, std::span<const StorageWrite> writes) override {
    return below_.write_all(asker, writes);
  }
  Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open, std::span<const std::byte> data,
                                bool durable) override {
    return below_.append(asker, id, open, data, durable);
  }
  Status commit(const Asker& asker, core::FileId id, OpenNumber open) override {
    return below_.commit(asker, id, open);
  }
  std::vector<Status> commit_all(const Asker& asker, std::span<const StorageCommit> commits) override {
    return below_.commit_all(asker, commits);
  }
  Status flush(const Asker& asker, core::FileId id, OpenNumber open) override { return below_.flush(asker, id, open); }
  Status allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override {
    return below_.allocate(asker, range, open);
  }
  Status zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override {
    return below_.zero(asker, range, open);
  }
  Status punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override {
    return below_.punch(asker, range, open);
  }
  Result<std::uint64_t> seek(const Asker& asker, const core::SeekRequest& request) override {
    return below_.seek(asker, request);
  }
  Result<std::uint64_t> copy_range(const Asker& asker, const core::CopyRangeRequest& request, OpenNumber from,
                                   OpenNumber to) override {
    return below_.copy_range(asker, request, from, to);
  }
  Result<std::string> get_xattr(const Asker& asker, const core::GetXattrRequest& request) override {
    return below_.get_xattr(asker, request);
  }
  Status set_xattr(const Asker& asker, const core::SetXattrRequest& request) override {
    return below_.set_xattr(asker, request);
  }
  Result<std::vector<std::string>> list_xattrs(const Asker& asker, core::FileId id) override {
    return below_.list_xattrs(asker, id);
  }
  Status remove_xattr(const Asker& asker, const core::RemoveXattrRequest& request) override {
    return below_.remove_xattr(asker, request);
  }
  Result<std::optional<StorageLock>> lock(const Asker& asker, const StorageLock& wanted, bool waits) override {
    return below_.lock(asker, wanted, waits);
  }
  Result<std::optional<StorageLock>> test_lock(const Asker& asker, const StorageLock& wanted) override {
    return below_.test_lock(asker, wanted);
  }
  Status unlock(const Asker& asker, const StorageLock& range) override { return below_.unlock(asker, range); }

 protected:
  Storage& below_;
};

}  // namespace stoa::native

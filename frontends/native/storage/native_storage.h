// A server of the native protocol as the storage of a mount.
#pragma once

#include <atomic>

#include "frontends/native/cache/lease_calls.h"
#include "frontends/native/client/client.h"
#include "frontends/native/protocol/message.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native {

// Each call is one batch, of one round trip. `client` outlives it. With a user's key all calls are that user's; with a
// host's key each is for whom the asker says.
class NativeStorage : public Storage, public LeaseCalls {
 public:
  NativeStorage(Client& client, KeyKind key)
      : client_(client), root_(core::FileId{client.facts().root}), names_askers_(key == KeyKind::kHost) {}

  core::FileId root() const override { return root_; }
  Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) override;
  Result<core::Attributes> getattr(const Asker& asker, core::FileId id) override;
  Result<core::Attributes> setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                   const core::SetAttributes& set) override;
  Result<std::uint32_t> access(const Asker& asker, core::FileId id, std::uint32_t wanted) override;
  Result<std::string> readlink(const Asker& asker, core::FileId id) override;
  Result<core::StatfsReply> statfs(const Asker& asker, core::FileId id) override;

  Result<core::Attributes> mkdir(const Asker& asker, const core::MkdirRequest& request) override;
  Result<core::Attributes> mknod(const Asker& asker, const core::MknodRequest& request) override;
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override;
  Result<core::Attributes> symlink(const Asker& asker, const core::SymlinkRequest& request) override;
  Result<core::Attributes> link(const Asker& asker, const core::LinkRequest& request) override;
  Status unlink(const Asker& asker, const core::RemoveRequest& request) override;
  Status rmdir(const Asker& asker, const core::RemoveRequest& request) override;
  Status rename(const Asker& asker, const core::RenameRequest& request) override;
  Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) override;

  Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) override;
  void close(const Asker& asker, OpenNumber open) override;
  Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                           std::span<std::byte> into) override;
  Result<StorageBytes> read_to_keep(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                    std::size_t length) override;
  std::vector<Result<std::size_t>> read_all(const Asker& asker, std::span<const StorageRead> reads) override;
  Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay way) override;
  std::vector<Result<StorageWritten>> write_all(const Asker& asker, std::span<const StorageWrite> writes) override;
  Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open, std::span<const std::byte> data,
                                bool durable) override;
  Status commit(const Asker& asker, core::FileId id, OpenNumber open) override;
  std::vector<Status> commit_all(const Asker& asker, std::span<const StorageCommit> commits) override;
  Status allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Status zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Status punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Result<std::uint64_t> seek(const Asker& asker, const core::SeekRequest& request) override;
  Result<std::uint64_t> copy_range(const Asker& asker, const core::CopyRangeRequest& request, OpenNumber from,
                                   OpenNumber to) override;

  Result<std::string> get_xattr(const Asker& asker, const core::GetXattrRequest& request) override;
  Status set_xattr(const Asker& asker, const core::SetXattrRequest& request) override;
  Result<std::vector<std::string>> list_xattrs(const Asker& asker, core::FileId id) override;
  Status remove_xattr(const Asker& asker, const core::RemoveXattrRequest& request) override;

  Result<std::optional<StorageLock>> lock(const Asker& asker, const StorageLock& wanted, bool waits) override;
  Result<std::optional<StorageLock>> test_lock(const Asker& asker, const StorageLock& wanted) override;
  Status unlock(const Asker& asker, const StorageLock& range) override;

  std::uint64_t new_lease() override { return client_.new_lease(); }
  OpenNumber new_open() override { return client_.new_open(); }
  std::int64_t trusted_until_ns() const override { return client_.trusted_until_ns(); }
  Status acknowledge(std::uint64_t lease, std::uint32_t keeps) override;
  std::vector<Status> open_numbered(const core::Credentials& cred, std::span<const NumberedOpen> opens) override;
  void stop_waiting() override { waits_not_ = true; }

 private:
  Result<Replies> run(const Asker& asker, const Batch& batch, bool asks_once = false);
  // A batch of one operation. The reply's texts live as long as `kept`.
  template <class Operation>
  Result<typename Operation::Reply> one(const Asker& asker, const typename Operation::Arguments& arguments,
                                        Replies& kept);
  // One whose reply is the attributes of a file, or nothing that is needed.
  template <class Operation>
  Result<core::Attributes> attributes(const Asker& asker, const typename Operation::Arguments& arguments);
  template <class Operation>
  Status status(const Asker& asker, const typename Operation::Arguments& arguments);

  Client& client_;
  std::atomic<bool> waits_not_{false};
  const core::FileId root_;
  const bool names_askers_;
};

}  // namespace stoa::native

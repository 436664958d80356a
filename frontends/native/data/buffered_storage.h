// A storage that buffers bytes under leases: write-behind and read-ahead, between a mount or libstoa and LeasedStorage.
//
// - A write under a write lease is buffered and returns; it is sent within WriteBehind::kAge, or when a piece is full.
//   Without a lease it is written through. At most WriteBehind::kUnsentMost bytes wait: then writers wait.
// - Reads, sizes and times show what is buffered.
// - commit() tells the errors of bytes that were buffered, flush() those that are known by now: each once per open
// file.
//   EDQUOT and ENOSPC as they are, all else as EIO. Near a limit of room writes are written through.
// - A program that dies leaves what it wrote; a host that dies loses what was not committed.
#pragma once

#include "frontends/native/cache/held_lease.h"
#include "frontends/native/data/open_state.h"
#include "frontends/native/data/read_ahead.h"
#include "frontends/native/data/room.h"
#include "frontends/native/data/write_behind.h"
#include "frontends/native/storage/forwarding_storage.h"

namespace stoa::native {

// Thread-safe. Blocking as the storage below. `below` and `covers` outlive it. After fork(2) the child must not use it.
class BufferedStorage : public ForwardingStorage, public KeptUnderLeases {
 public:
  static constexpr std::uint64_t kBudgetBytes = 192 * 1024 * 1024;
  BufferedStorage(Storage& below, LeaseCovers& covers, std::uint64_t budget_bytes = kBudgetBytes);

  Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) override;
  Result<core::Attributes> getattr(const Asker& asker, core::FileId id) override;
  Result<core::Attributes> setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                   const core::SetAttributes& set) override;
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override;
  Result<core::Attributes> link(const Asker& asker, const core::LinkRequest& request) override;
  Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) override;
  Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) override;
  void close(const Asker& asker, OpenNumber open) override;
  Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                           std::span<std::byte> into) override;
  Result<StorageBytes> read_to_keep(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                    std::size_t length) override {
    return Storage::read_to_keep(asker, id, open, offset, length);
  }
  std::vector<Result<std::size_t>> read_all(const Asker& asker, std::span<const StorageRead> reads) override {
    return Storage::read_all(asker, reads);
  }
  Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay way) override;
  std::vector<Result<StorageWritten>> write_all(const Asker& asker, std::span<const StorageWrite> writes) override {
    return Storage::write_all(asker, writes);
  }
  Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open, std::span<const std::byte> data,
                                bool durable) override;
  Status commit(const Asker& asker, core::FileId id, OpenNumber open) override;
  std::vector<Status> commit_all(const Asker& asker, std::span<const StorageCommit> commits) override {
    return Storage::commit_all(asker, commits);
  }
  Status flush(const Asker& asker, core::FileId id, OpenNumber open) override;
  Status allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Status zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Status punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Result<std::uint64_t> seek(const Asker& asker, const core::SeekRequest& request) override;
  Result<std::uint64_t> copy_range(const Asker& asker, const core::CopyRangeRequest& request, OpenNumber from,
                                   OpenNumber to) override;

  void write_back(const HeldLease& lease, core::FileId file) override;
  void forget(const HeldLease& lease, core::FileId file) override;
  void lose(const HeldLease& lease) override;

  // For messages that go past this storage. Whether bytes of the file are buffered, and not yet at the server.
  bool has_unsent(core::FileId id) const;
  // Returns when all bytes of all files that were buffered before are at the server, or have failed.
  void send_unsent();
  // What the server has told, with what is buffered here. Does not block.
  core::Attributes shown(core::Attributes attr) const;

  struct Lost {
    std::size_t files = 0;
    Status first{};  // the first error
  };
  // Sends and commits all, for the end of a mount or program. What could not be written is told in the log, and here:
  // each error once.
  Lost commit_everything();
  // The same, but errors stay to be told to the open files.
  void write_everything_back() { writes_.write_back(files_.all()); }
  // For a process that goes on with the session: what it has to know when nothing is buffered, and nothing is under
  // way. restore() comes before the first call.
  BufferedState state() const;
  void restore(const BufferedState& state);
  std::uint64_t unsent_bytes() const { return writes_.unsent_bytes(); }

 private:
  using File = data::WriteBehind::File;
  // While it lives nothing of the file is buffered, and nothing read ahead before its end stays: for calls that change
  // content in another way, or must come behind all writes.
  class Behind;

  Result<core::Attributes> shown(Result<core::Attributes> attr) const;
  bool may_buffer(const data::OpenFile* open, core::FileId id, std::uint64_t offset, std::size_t length,
                  const WriteWay& way) const;
  // False: it cannot be buffered now.
  Result<bool> buffer(const Asker& asker, const std::shared_ptr<data::OpenFile>& open, std::uint64_t offset,
                      std::span<const std::byte> data);
  Result<StorageWritten> write_through(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                       std::span<const std::byte> data, const WriteWay& way);
  template <class Call>
  auto behind(const Asker& asker, core::FileId id, const Call& call) -> decltype(call());
  // The file that a name stands for, when the call may truncate it: what is buffered goes first.
  core::FileId named(const Asker& asker, core::FileId parent, std::string_view name);

  LeaseCovers& covers_;
  data::BlockBudget block_budget_;  // outlives the blocks of the files
  data::FileTable files_;
  data::Room room_;
  data::WriteBehind writes_;
  data::ReadAhead reads_;
};

}  // namespace stoa::native

// What a mount asks of its server: blocking calls on the values of core/api.
//
// Thread-safe. Errors are those of core/api/namespace.h. A server that is gone is waited for; the wait ends with
// sys_errno EINTR when Asker::gives_up says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/api/credentials.h"
#include "core/api/lock_request.h"
#include "core/api/requests.h"

namespace stoa::native {

// A lease that is asked for with a call: in its message, before it, so that what the call reads is under the lease.
struct LeaseWish {
  core::FileId file = core::kNoFile;
  std::uint64_t number = 0;   // LeaseArgs::lease
  std::uint32_t bits = 0;     // core::LeaseBits that are wanted
  bool of_files = false;      // the files lease of a directory
  bool answered = false;      // by the server: false too when the call did not ask, or its reply is not known
  std::uint32_t granted = 0;  // all that the lease has now
};

// What lookup() tells beside the file that it finds, in the same message.
struct LookupWish {
  std::uint32_t rights = 0;                  // AccessBits, to the file
  std::optional<std::uint32_t> granted{};    // of those
  std::optional<core::Attributes> parent{};  // the directory
};

// For whom a call is.
struct Asker {
  core::Credentials cred;
  std::function<bool()> gives_up{};  // asked from time to time during long waits; empty: never
  LeaseWish* wish = nullptr;         // lookup, getattr, access, open, readdir and calls that make a name ask for it
  LookupWish* more = nullptr;        // lookup asks for it
};

// An open at the server. 0: none; content is then read and written by permission.
using OpenNumber = std::uint64_t;

struct StorageOpen {
  OpenNumber open = 0;
  core::Attributes attr;
  bool created = false;  // the file, by this open
};
struct StorageEntries {
  std::vector<core::DirectoryEntry> entries;
  bool end = false;
};
// How bytes are written.
struct WriteWay {
  bool durable = false;  // before it returns; else kept until commit(), also when the server restarts
  std::uint64_t lease =
      0;  // HeldLease::number under which the bytes were buffered: kLeaseLost when it is gone; 0: none
};
struct StorageWritten {
  std::size_t length = 0;
  // Of the file behind it. Empty: not known, as the bytes are still buffered.
  std::optional<core::Attributes> attr{};
};
// One of several writes that leave together.
struct StorageWrite {
  core::FileId id = core::kNoFile;
  OpenNumber open = 0;
  std::uint64_t offset = 0;
  std::span<const std::byte> data{};
  std::uint64_t lease = 0;  // WriteWay::lease
  bool closes = false;      // the open is closed behind it, also when it fails
  bool durable = false;     // WriteWay::durable
};
inline constexpr std::size_t kWritesMost = 128;              // of one write_all(); with their closes, one message
inline constexpr std::size_t kWriteBytesMost = 1024 * 1024;  // of one write or read, or of all of one write_all()
// One of several reads that are asked for together, by permission. What is read is as long as `into`, unless the file
// ends before.
struct StorageRead {
  core::FileId id = core::kNoFile;
  std::uint64_t offset = 0;
  std::span<std::byte> into{};
};
// Bytes that were read, in memory that nobody changes any more; null: there are none.
struct StorageBytes {
  std::shared_ptr<const std::byte[]> memory{};
  std::size_t length = 0;
};
inline constexpr std::size_t kReadsMost = 128;  // of one read_all(), of kWriteBytesMost together
struct StorageCommit {
  core::FileId id = core::kNoFile;
  OpenNumber open = 0;
};
inline constexpr std::size_t kCommitsMost = 256;  // of one commit_all()
struct StorageLock {
  core::FileId file = core::kNoFile;
  std::uint64_t owner = 0;
  core::LockRange range;
  bool exclusive = false;
};

class Storage {
 public:
  virtual ~Storage() = default;
  virtual core::FileId root() const = 0;

  virtual Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) = 0;
  virtual Result<core::Attributes> getattr(const Asker& asker, core::FileId id) = 0;
  virtual Result<core::Attributes> setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                           const core::SetAttributes& set) = 0;
  // AccessBits that are granted.
  virtual Result<std::uint32_t> access(const Asker& asker, core::FileId id, std::uint32_t wanted) = 0;
  virtual Result<std::string> readlink(const Asker& asker, core::FileId id) = 0;
  virtual Result<core::StatfsReply> statfs(const Asker& asker, core::FileId id) = 0;

  virtual Result<core::Attributes> mkdir(const Asker& asker, const core::MkdirRequest& request) = 0;
  virtual Result<core::Attributes> mknod(const Asker& asker, const core::MknodRequest& request) = 0;
  // A regular file, without opening it: kExists when the name is taken.
  virtual Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) = 0;
  virtual Result<core::Attributes> symlink(const Asker& asker, const core::SymlinkRequest& request) = 0;
  virtual Result<core::Attributes> link(const Asker& asker, const core::LinkRequest& request) = 0;
  virtual Status unlink(const Asker& asker, const core::RemoveRequest& request) = 0;
  virtual Status rmdir(const Asker& asker, const core::RemoveRequest& request) = 0;
  virtual Status rename(const Asker& asker, const core::RenameRequest& request) = 0;
  // Before a directory is read: kAccess without the right to list it.
  virtual Status open_directory(const Asker& asker, core::FileId dir);
  virtual Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) = 0;

  // Every open ends with one close().
  virtual Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) = 0;
  virtual void close(const Asker& asker, OpenNumber open) = 0;
  virtual Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                   std::span<std::byte> into) = 0;
  // The same, at most kWriteBytesMost, for who keeps the bytes: they stay where the server's reply came in. Here:
  // read().
  virtual Result<StorageBytes> read_to_keep(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                            std::size_t length);
  // Reads for one user of any files: each has its own result, and a failure does not end the others. At most
  // kReadsMost. Here: one by one; one message where a server is asked.
  virtual std::vector<Result<std::size_t>> read_all(const Asker& asker, std::span<const StorageRead> reads);
  virtual Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                       std::span<const std::byte> data, WriteWay way) = 0;
  // Writes of one user to any files, in their order: each has its own result, and a failure does not end
  // those behind it. At most kWritesMost, of kWriteBytesMost together. Here: one by one; one message where a server is
  // asked.
  virtual std::vector<Result<StorageWritten>> write_all(const Asker& asker, std::span<const StorageWrite> writes);
  // At the end of the file, wherever that is when the server runs it.
  virtual Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open,
                                        std::span<const std::byte> data, bool durable) = 0;
  virtual Status commit(const Asker& asker, core::FileId id, OpenNumber open) = 0;
  // Several files of one user, at most kCommitsMost, each with its own result.
  virtual std::vector<Status> commit_all(const Asker& asker, std::span<const StorageCommit> commits);
  // At each close(2) of an open file: errors of buffered writes that are known by now, once per open.
  virtual Status flush(const Asker&, core::FileId, OpenNumber) { return {}; }
  virtual Status allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) = 0;
  virtual Status zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) = 0;
  virtual Status punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) = 0;
  virtual Result<std::uint64_t> seek(const Asker& asker, const core::SeekRequest& request) = 0;
  virtual Result<std::uint64_t> copy_range(const Asker& asker, const core::CopyRangeRequest& request, OpenNumber from,
                                           OpenNumber to) = 0;

  virtual Result<std::string> get_xattr(const Asker& asker, const core::GetXattrRequest& request) = 0;
  virtual Status set_xattr(const Asker& asker, const core::SetXattrRequest& request) = 0;
  virtual Result<std::vector<std::string>> list_xattrs(const Asker& asker, core::FileId id) = 0;
  virtual Status remove_xattr(const Asker& asker, const core::RemoveXattrRequest& request) = 0;

  // Empty: granted (lock), free (test_lock). Else the first lock in the way; the owner is 0 when it is of another
  // client. `waits`: the caller asks again, and has its turn among all that wait.
  virtual Result<std::optional<StorageLock>> lock(const Asker& asker, const StorageLock& wanted, bool waits) = 0;
  virtual Result<std::optional<StorageLock>> test_lock(const Asker& asker, const StorageLock& wanted) = 0;
  virtual Status unlock(const Asker& asker, const StorageLock& range) = 0;
};

}  // namespace stoa::native

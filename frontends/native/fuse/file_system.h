// The file system behind a FUSE connection: one method for each operation of the kernel, on values.
//
// Rules for every call:
//  - Called by many threads at the same time; may block. `Call::interrupted()` turns true when the kernel no longer
//    wants to wait; the call then ends soon with an error of sys_errno EINTR, or with its result. So it does when
//    `Call::unmounted()` turns true.
//  - Errors: an Errc, translated by errno_table.h. Error::sys_errno counts instead where it is set.
//  - Names are the bytes of the caller: 1..255, without '/' and NUL.
//  - The kernel's node id is the FileId, so there is no table of nodes, and forgetting a node needs no call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/ids.h"
#include "core/api/lock_request.h"
#include "core/api/requests.h"

namespace stoa::native::fuse {

// The process that asks, as the kernel names it. pid 0: it is not visible in this process's pid namespace.
struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t pid = 0;
};

// One request under way.
class Call {
 public:
  explicit Call(const Caller& caller) : caller_(caller) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  const Caller& caller() const { return caller_; }
  // The kernel's connection has ended: no reply is taken any more.
  bool unmounted() const { return unmounted_.load(std::memory_order_relaxed); }
  void unmount() { unmounted_.store(true, std::memory_order_relaxed); }
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
  // The flag itself, for waits that look at it.
  const std::atomic<bool>& interrupt_flag() const { return interrupted_; }
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }
  // Kept until the kernel has the reply, and let go then: what a notification about the reply has to wait for. From the
  // thread of the request. Letting it go must not block.
  void hold(std::shared_ptr<void> what) const { held_.push_back(std::move(what)); }
  bool holds() const { return !held_.empty(); }

 private:
  const Caller caller_;
  mutable std::vector<std::shared_ptr<void>> held_;
  std::atomic<bool> interrupted_{false}, unmounted_{false};
};

// An open file or directory, named by the file system; 0: none.
enum class Handle : std::uint64_t {};
inline constexpr Handle kNoHandle{0};

// A file as it was opened: what every call on it carries.
struct OpenFile {
  core::FileId id = core::kNoFile;
  Handle handle = kNoHandle;
};

// A new name: where, and the permission bits before and after the umask is taken off (an inherited ACL replaces it).
struct NewName {
  core::FileId parent = core::kNoFile;
  std::string_view name;
  std::uint32_t mode = 0;
  std::uint32_t umask = 0;
};

struct RenameCall {
  core::FileId from_parent = core::kNoFile;
  std::string_view from_name;
  core::FileId to_parent = core::kNoFile;
  std::string_view to_name;
  bool no_replace = false;
  bool exchange = false;
};

// How long the kernel may answer from what it was told, without asking again. 0, or less: not at all.
struct Validity {
  std::chrono::nanoseconds entry{0};  // the name: that it is there, or that it is not
  std::chrono::nanoseconds attr{0};
};

// What a name stands for. attr.id == core::kNoFile: the name does not exist, and the kernel may say so for valid.entry.
struct Entry {
  core::Attributes attr;
  Validity valid{};
};

struct TimedAttributes {
  core::Attributes attr;
  std::chrono::nanoseconds valid{0};
};

// An open file or directory, and what the kernel may do with it by itself.
struct Opened {
  Handle handle = kNoHandle;
  // Past the page cache; several writers at a time. Kernels before 6.6 could not map such a file, so there it goes
  // through the page cache all the same. An open with O_APPEND always is direct: the server knows where the file ends.
  bool direct = false;
  // Pages from before this open stay. Of a directory: the kernel keeps its entries, and answers from those it has.
  bool keep_cache = false;
  // close(2) calls no flush(). Only where nothing is to be told at close, and the opener cannot hold fcntl locks by
  // this open that release() would end too late.
  bool no_flush = false;
};

struct Created {
  Entry entry;
  Opened opened;
};

struct WriteCall {
  OpenFile file;
  std::uint64_t offset = 0;
  std::span<const std::byte> data;
  bool append = false;      // at the end of the file, wherever that is now
  bool durable = false;     // O_SYNC, O_DSYNC
  bool from_cache = false;  // dirty pages of a mapping: the caller is the kernel
};

struct CopyCall {
  OpenFile from;
  std::uint64_t from_offset = 0;
  OpenFile to;
  std::uint64_t to_offset = 0;
  std::uint64_t length = 0;
};

// A lock of fcntl (owner: a process) or flock (owner: an open file).
struct LockCall {
  OpenFile file;
  std::uint64_t owner = 0;
  core::LockRange range;
  bool exclusive = false;
  bool flock = false;
  std::uint32_t pid = 0;
};

// Takes the entries of a directory, in order.
class EntrySink {
 public:
  virtual ~EntrySink() = default;
  // False: it is full, and this entry was not taken.
  // `valid` counts where the entry has attributes.
  virtual bool add(const core::DirectoryEntry& entry, const Validity& valid) = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual core::FileId root() const = 0;

  // --- names and attributes
  // A name that does not exist: kNotFound, or a negative Entry.
  virtual Result<Entry> lookup(const Call& call, core::FileId parent, std::string_view name) = 0;
  virtual Result<TimedAttributes> getattr(const Call& call, const OpenFile& file) = 0;
  virtual Result<TimedAttributes> setattr(const Call& call, const OpenFile& file, const core::SetAttributes& set) = 0;
  virtual Result<std::string> readlink(const Call& call, core::FileId id) = 0;
  // `access`: bits of access(2) (R_OK, W_OK, X_OK).
  virtual Status access(const Call& call, core::FileId id, std::uint32_t access) = 0;
  virtual Result<Entry> mknod(const Call& call, const NewName& at, core::FileType type, core::DeviceNumber device) = 0;
  virtual Result<Entry> mkdir(const Call& call, const NewName& at) = 0;
  virtual Result<Entry> symlink(const Call& call, const NewName& at, std::string_view target) = 0;
  virtual Result<Entry> link(const Call& call, core::FileId id, const NewName& at) = 0;
  virtual Status unlink(const Call& call, core::FileId parent, std::string_view name) = 0;
  virtual Status rmdir(const Call& call, core::FileId parent, std::string_view name) = 0;
  virtual Status rename(const Call& call, const RenameCall& rename) = 0;

  // --- open files. `flags` are those of open(2) on this machine. What open() gave out ends with one release().
  virtual Result<Opened> open(const Call& call, core::FileId id, std::uint32_t flags) = 0;
  virtual Result<Created> create(const Call& call, const NewName& at, std::uint32_t flags) = 0;
  // O_TMPFILE: a new file in at.parent without a name (at.name is empty). link() gives it one; else it goes with its
  // release.
  virtual Result<Created> create_nameless(const Call& call, const NewName& at, std::uint32_t flags) = 0;
  virtual Result<std::size_t> read(const Call& call, const OpenFile& file, std::uint64_t offset,
                                   std::span<std::byte> into) = 0;
  virtual Result<std::size_t> write(const Call& call, const WriteCall& write) = 0;
  // A descriptor was closed: the fcntl locks of its owner end. Others of the open file may be left.
  virtual Status flush(const Call& call, const OpenFile& file, std::uint64_t lock_owner) = 0;
  virtual Status fsync(const Call& call, const OpenFile& file) = 0;
  // `flock_owner`: its flock locks end, too.
  virtual void release(const Call& call, const OpenFile& file, std::optional<std::uint64_t> flock_owner) = 0;
  virtual Result<std::uint64_t> seek(const Call& call, const OpenFile& file, std::uint64_t offset,
                                     core::SeekWhat what) = 0;
  // `mode`: that of fallocate(2). kNotSupported: not this one.
  virtual Status allocate(const Call& call, const OpenFile& file, std::uint64_t offset, std::uint64_t length,
                          std::uint32_t mode) = 0;
  virtual Result<std::uint64_t> copy_range(const Call& call, const CopyCall& copy) = 0;

  // --- directories
  virtual Result<Opened> opendir(const Call& call, core::FileId id) = 0;
  // Entries behind `cookie` (0: from the beginning), until the sink is full or there are no more.
  virtual Status readdir(const Call& call, const OpenFile& dir, std::uint64_t cookie, bool attributes,
                         EntrySink& sink) = 0;
  virtual void releasedir(const Call& call, const OpenFile& dir) = 0;

  virtual Result<core::StatfsReply> statfs(const Call& call, core::FileId id) = 0;

  // --- extended attributes, with their prefix ("user.x")
  virtual Result<std::string> get_xattr(const Call& call, core::FileId id, std::string_view name) = 0;
  virtual Result<std::vector<std::string>> list_xattrs(const Call& call, core::FileId id) = 0;
  virtual Status set_xattr(const Call& call, core::FileId id, std::string_view name, std::string_view value,
                           core::XattrMode mode) = 0;
  virtual Status remove_xattr(const Call& call, core::FileId id, std::string_view name) = 0;

  // --- locks. None of these waits for a lock: the connection asks again (lock_waits.h).
  // The first lock in the way; empty: it could be had.
  virtual Result<std::optional<LockCall>> get_lock(const Call& call, const LockCall& lock) = 0;
  // False: another lock is in the way. `waits`: the caller asks again until it gets it. kDeadlock: it would wait for
  // ever.
  virtual Result<bool> set_lock(const Call& call, const LockCall& lock, bool waits) = 0;
  virtual Status unlock(const Call& call, const LockCall& lock) = 0;
};

}  // namespace stoa::native::fuse

// The file system of a mount: what the kernel asks, in terms of what the server offers.
//
// The kernel keeps what a lease covers (kernel_times.h), and asks for the rest each time.
#pragma once

#include <atomic>

#include "frontends/native/fuse/file_system.h"
#include "frontends/native/mount/held_locks.h"
#include "frontends/native/mount/kernel_times.h"
#include "frontends/native/mount/open_table.h"
#include "frontends/native/mount/process_status.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::mount {

class MountedFileSystem : public fuse::FileSystem {
 public:
  // `storage` and the leases of `times` outlive it.
  explicit MountedFileSystem(Storage& storage, const KernelTimes& times = {nullptr, false})
      : storage_(storage), times_(times) {}

  // Told of what the kernel must ask for again behind a change: the ACL of a file changes its mode, and the reply has
  // no attributes. `kernel`: null, or outlives it or the next call. Thread-safe.
  void set_kernel(KernelCache* kernel) { kernel_ = kernel; }

  // What the kernel believes to have open and locked; for another process, when no request is under way.
  struct State {
    std::uint64_t last_handle = 0;
    std::vector<OpenTable::Kept> opens{};
    std::vector<HeldLocks::Kept> locks{};
  };
  State state() const;
  void restore(const State& state);

  core::FileId root() const override { return storage_.root(); }

  Result<fuse::Entry> lookup(const fuse::Call& call, core::FileId parent, std::string_view name) override;
  Result<fuse::TimedAttributes> getattr(const fuse::Call& call, const fuse::OpenFile& file) override;
  Result<fuse::TimedAttributes> setattr(const fuse::Call& call, const fuse::OpenFile& file,
                                        const core::SetAttributes& set) override;
  Result<std::string> readlink(const fuse::Call& call, core::FileId id) override;
  Status access(const fuse::Call& call, core::FileId id, std::uint32_t access) override;
  Result<fuse::Entry> mknod(const fuse::Call& call, const fuse::NewName& at, core::FileType type,
                            core::DeviceNumber device) override;
  Result<fuse::Entry> mkdir(const fuse::Call& call, const fuse::NewName& at) override;
  Result<fuse::Entry> symlink(const fuse::Call& call, const fuse::NewName& at, std::string_view target) override;
  Result<fuse::Entry> link(const fuse::Call& call, core::FileId id, const fuse::NewName& at) override;
  Status unlink(const fuse::Call& call, core::FileId parent, std::string_view name) override;
  Status rmdir(const fuse::Call& call, core::FileId parent, std::string_view name) override;
  Status rename(const fuse::Call& call, const fuse::RenameCall& rename) override;

  Result<fuse::Opened> open(const fuse::Call& call, core::FileId id, std::uint32_t flags) override;
  Result<fuse::Created> create(const fuse::Call& call, const fuse::NewName& at, std::uint32_t flags) override;
  Result<fuse::Created> create_nameless(const fuse::Call& call, const fuse::NewName& at, std::uint32_t flags) override;
  Result<std::size_t> read(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t offset,
                           std::span<std::byte> into) override;
  Result<std::size_t> write(const fuse::Call& call, const fuse::WriteCall& write) override;
  Status flush(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t lock_owner) override;
  Status fsync(const fuse::Call& call, const fuse::OpenFile& file) override;
  void release(const fuse::Call& call, const fuse::OpenFile& file, std::optional<std::uint64_t> flock_owner) override;
  Result<std::uint64_t> seek(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t offset,
                             core::SeekWhat what) override;
  Status allocate(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t offset, std::uint64_t length,
                  std::uint32_t mode) override;
  Result<std::uint64_t> copy_range(const fuse::Call& call, const fuse::CopyCall& copy) override;

  Result<fuse::Opened> opendir(const fuse::Call& call, core::FileId id) override;
  Status readdir(const fuse::Call& call, const fuse::OpenFile& dir, std::uint64_t cookie, bool attributes,
                 fuse::EntrySink& sink) override;
  void releasedir(const fuse::Call& call, const fuse::OpenFile& dir) override;
  Result<core::StatfsReply> statfs(const fuse::Call& call, core::FileId id) override;

  Result<std::string> get_xattr(const fuse::Call& call, core::FileId id, std::string_view name) override;
  Result<std::vector<std::string>> list_xattrs(const fuse::Call& call, core::FileId id) override;
  Status set_xattr(const fuse::Call& call, core::FileId id, std::string_view name, std::string_view value,
                   core::XattrMode mode) override;
  Status remove_xattr(const fuse::Call& call, core::FileId id, std::string_view name) override;

  Result<std::optional<fuse::LockCall>> get_lock(const fuse::Call& call, const fuse::LockCall& lock) override;
  Result<bool> set_lock(const fuse::Call& call, const fuse::LockCall& lock, bool waits) override;
  Status unlock(const fuse::Call& call, const fuse::LockCall& lock) override;

  // Whether nobody waits for the result: the process is being killed, or the mount has ended.
  static bool given_up(const fuse::Call& call) {
    return call.unmounted() || (call.interrupted() && is_dying(call.caller().pid));
  }

 private:
  // A file with a new name, for the kernel.
  Result<fuse::Entry> made(const fuse::Call& call, const LeaseTicket& moment, const fuse::NewName& at,
                           Result<core::Attributes> made) const;
  // The process that asks, with its groups: for what is decided by permissions.
  Asker process(const fuse::Call& call);
  // Behind a change of rights of which the reply does not tell. `names_too`: also of those to search a directory.
  void forget_rights(core::FileId id, bool names_too);
  // The user who opened a file. For requests of closing and of content: no look at the process, which may be in
  // execve(2).
  Asker opener(const fuse::Call& call, const OpenEntry& entry) const;
  // The open of a request; kStale when the kernel names none that is open. For requests that cannot be without one.
  Result<std::shared_ptr<OpenEntry>> entry_of(const fuse::OpenFile& file) const;
  Result<fuse::Created> create_as(const fuse::Call& call, const fuse::NewName& at, std::uint32_t flags,
                                  core::OpenDisposition disposition);
  Status require(const Asker& asker, core::FileId id, std::uint32_t wanted);
  // A file as it was opened, for the kernel.
  fuse::Opened opened(const fuse::Call& call, const LeaseTicket& moment, OpenEntry entry, std::uint32_t flags);
  // kAccess: the caller may do no more than run the file.
  Status may_read(const Asker& asker, const core::Attributes& attr);

  Storage& storage_;
  const KernelTimes times_;
  std::atomic<KernelCache*> kernel_ = nullptr;
  ProcessGroups groups_;
  OpenTable opens_;
  HeldLocks held_;
};

}  // namespace stoa::native::mount

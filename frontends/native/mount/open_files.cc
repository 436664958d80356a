// Open files and directories of a mount.
#include <fcntl.h>
#include <linux/falloc.h>

#include <algorithm>

#include "base/log.h"
#include "frontends/native/mount/listed_entries.h"
#include "frontends/native/mount/mounted_file_system.h"

namespace stoa::native::mount {
namespace {

// O_RDONLY with this bit opens a program to be run (FMODE_EXEC of the kernel).
constexpr std::uint32_t kOpenToExecute = 040;

std::uint32_t share_access(std::uint32_t flags) {
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return core::kShareRead;
    case O_WRONLY:
      return core::kShareWrite;
    default:
      return core::kShareBoth;
  }
}

core::OpenDisposition disposition_of_new(std::uint32_t flags) {
  if ((flags & O_EXCL) != 0) return core::OpenDisposition::kCreate;
  return (flags & O_TRUNC) != 0 ? core::OpenDisposition::kOverwriteOrCreate : core::OpenDisposition::kOpenOrCreate;
}

}  // namespace

Asker MountedFileSystem::opener(const fuse::Call& call, const OpenEntry& entry) const {
  return {.cred = entry.cred, .gives_up = [&call] { return given_up(call); }};
}

Result<std::shared_ptr<OpenEntry>> MountedFileSystem::entry_of(const fuse::OpenFile& file) const {
  auto entry = opens_.find(file.handle);
  if (!entry || entry->id != file.id) return fail(Errc::kStale);
  return entry;
}

Status MountedFileSystem::may_read(const Asker& asker, const core::Attributes& attr) {
  constexpr std::uint32_t kReadByAll = 0444;
  if ((attr.mode & kReadByAll) == kReadByAll) return {};
  return require(asker, attr.id, core::kAccessRead);
}

// Under a lease pages stay, also those of before: they go with its recall. Without one every read is the server's.
fuse::Opened MountedFileSystem::opened(const fuse::Call& call, const LeaseTicket& moment, OpenEntry entry,
                                       std::uint32_t flags) {
  const core::FileId id = entry.id;
  const bool covered = (flags & O_APPEND) == 0 && times_.covered(call, moment, id);
  return {.handle = opens_.add(std::move(entry)), .direct = !covered, .keep_cache = covered};
}

Result<fuse::Opened> MountedFileSystem::open(const fuse::Call& call, core::FileId id, std::uint32_t flags) {
  const Asker asker = process(call);
  const LeaseTicket moment = times_.moment();
  if ((flags & kOpenToExecute) != 0) STOA_CHECK_OK(require(asker, id, core::kAccessExecute));
  const bool truncates = (flags & O_TRUNC) != 0;
  core::OpenRequest request{.id = id,
                            .disposition = truncates ? core::OpenDisposition::kOverwrite : core::OpenDisposition::kOpen,
                            .access = share_access(flags)};
  STOA_TRY(got, storage_.open(asker, request));
  // The server lets a file that may be executed be read: to run it, it must be.
  const bool to_read = (flags & kOpenToExecute) == 0 && (flags & O_ACCMODE) != O_WRONLY;
  if (const Status may = to_read ? may_read(asker, got.attr) : Status{}; !may) {
    storage_.close(asker, got.open);
    return fail(may.error());
  }
  return opened(call, moment, {.id = id, .open = got.open, .cred = asker.cred}, flags);
}

Result<fuse::Created> MountedFileSystem::create(const fuse::Call& call, const fuse::NewName& at, std::uint32_t flags) {
  return create_as(call, at, flags, disposition_of_new(flags));
}

Result<fuse::Created> MountedFileSystem::create_nameless(const fuse::Call& call, const fuse::NewName& at,
                                                         std::uint32_t flags) {
  return create_as(call, at, flags, core::OpenDisposition::kCreateNameless);
}

Result<fuse::Created> MountedFileSystem::create_as(const fuse::Call& call, const fuse::NewName& at, std::uint32_t flags,
                                                   core::OpenDisposition disposition) {
  const Asker asker = process(call);
  core::OpenRequest request{.parent = at.parent,
                            .name = at.name,
                            .disposition = disposition,
                            .access = share_access(flags),
                            .set = {.mode = at.mode, .umask = at.umask}};
  const LeaseTicket moment = times_.moment();
  STOA_TRY(got, storage_.open(asker, request));
  OpenEntry entry{.id = got.attr.id, .open = got.open, .cred = asker.cred};
  STOA_TRY(named, made(call, moment, at, got.attr));
  return fuse::Created{.entry = named, .opened = opened(call, moment, std::move(entry), flags)};
}

Result<std::size_t> MountedFileSystem::read(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t offset,
                                            std::span<std::byte> into) {
  STOA_TRY(entry, entry_of(file));
  return storage_.read(opener(call, *entry), file.id, entry->open, offset, into);
}

Result<std::size_t> MountedFileSystem::write(const fuse::Call& call, const fuse::WriteCall& write) {
  STOA_TRY(entry, entry_of(write.file));
  const Asker asker = opener(call, *entry);
  STOA_TRY(written, write.append ? storage_.append(asker, write.file.id, entry->open, write.data, write.durable)
                                 : storage_.write(asker, write.file.id, entry->open, write.offset, write.data,
                                                  {.durable = write.durable}));
  return std::size_t{written.length};
}

Status MountedFileSystem::fsync(const fuse::Call& call, const fuse::OpenFile& file) {
  STOA_TRY(entry, entry_of(file));
  return storage_.commit(opener(call, *entry), file.id, entry->open);
}

Result<std::uint64_t> MountedFileSystem::seek(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t offset,
                                              core::SeekWhat what) {
  STOA_TRY(entry, entry_of(file));
  return storage_.seek(opener(call, *entry), {.id = file.id, .offset = offset, .what = what});
}

Status MountedFileSystem::allocate(const fuse::Call& call, const fuse::OpenFile& file, std::uint64_t offset,
                                   std::uint64_t length, std::uint32_t mode) {
  STOA_TRY(entry, entry_of(file));
  const Asker asker = opener(call, *entry);
  const core::RangeRequest range{
      .id = file.id, .offset = offset, .length = length, .keep_size = (mode & FALLOC_FL_KEEP_SIZE) != 0};
  switch (mode) {
    case 0:
    case FALLOC_FL_KEEP_SIZE:
      return storage_.allocate(asker, range, entry->open);
    case FALLOC_FL_ZERO_RANGE:
    case FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE:
      return storage_.zero(asker, range, entry->open);
    case FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE:
      return storage_.punch(asker, range, entry->open);
    default:
      return fail(Errc::kNotSupported);
  }
}

Result<std::uint64_t> MountedFileSystem::copy_range(const fuse::Call& call, const fuse::CopyCall& copy) {
  STOA_TRY(from, entry_of(copy.from));
  STOA_TRY(to, entry_of(copy.to));
  const Asker asker = opener(call, *to);
  // copy_file_range(2) copies what there is; a length of 0 would mean all of it to the server.
  STOA_TRY(source, storage_.getattr(asker, copy.from.id));
  if (copy.from_offset >= source.size || copy.length == 0) return std::uint64_t{0};
  const std::uint64_t length = std::min(copy.length, source.size - copy.from_offset);
  return storage_.copy_range(asker,
                             {.from = copy.from.id,
                              .from_offset = copy.from_offset,
                              .to = copy.to.id,
                              .to_offset = copy.to_offset,
                              .length = length},
                             from->open, to->open);
}

void MountedFileSystem::release(const fuse::Call& call, const fuse::OpenFile& file,
                                std::optional<std::uint64_t> flock_owner) {
  const auto entry = opens_.remove(file.handle);
  if (!entry) return;
  if (flock_owner) {
    (void)unlock(call, {.file = file, .owner = *flock_owner, .flock = true});  // close(2) tells no errors of locks
  }
  // Those of processes ended with their close(2). What is left belongs to this open file (F_OFD_SETLK), and the kernel
  // says nothing of it.
  for (const std::uint64_t owner : held_.owners_through(entry->id, static_cast<std::uint64_t>(file.handle)))
    (void)unlock(call, {.file = file, .owner = owner});
  storage_.close(opener(call, *entry), entry->open);
}

Result<fuse::Opened> MountedFileSystem::opendir(const fuse::Call& call, core::FileId id) {
  const Asker asker = process(call);
  STOA_CHECK_OK(storage_.open_directory(asker, id));
  OpenEntry entry{.id = id, .cred = asker.cred, .stream = std::make_unique<DirectoryStream>()};
  // The kernel keeps the listing until the lease is recalled, or this host changes the directory.
  return fuse::Opened{.handle = opens_.add(std::move(entry)), .keep_cache = times_.covered(call, times_.moment(), id)};
}

Status MountedFileSystem::readdir(const fuse::Call& call, const fuse::OpenFile& dir, std::uint64_t cookie,
                                  bool attributes, fuse::EntrySink& sink) {
  STOA_TRY(entry, entry_of(dir));
  if (!entry->stream) return fail(Errc::kNotDirectory);
  const Asker asker = opener(call, *entry);
  ListedEntries kept(times_, storage_, call, asker, dir.id, sink);
  return entry->stream->read(storage_, asker, dir.id, cookie, attributes, kept);
}

void MountedFileSystem::releasedir(const fuse::Call&, const fuse::OpenFile& dir) {
  opens_.remove(dir.handle);
}

}  // namespace stoa::native::mount

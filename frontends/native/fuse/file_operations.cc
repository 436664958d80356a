// Operations on open files.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "frontends/native/fuse/operations.h"

namespace stoa::native::fuse {
namespace {

// The reply has 32 bits; callers go on behind what was copied.
constexpr std::uint64_t kCopyBytesMax = 0xfffff000;

fuse_open_out open_out(const Exchange& x, const Opened& opened, std::uint32_t flags) {
  fuse_open_out out{};
  out.fh = static_cast<std::uint64_t>(opened.handle);
  if ((opened.direct && x.negotiated.direct_io) || (flags & O_APPEND) != 0) {
    out.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
  }
  if (opened.keep_cache) out.open_flags |= FOPEN_KEEP_CACHE;
  if (opened.no_flush) out.open_flags |= FOPEN_NOFLUSH;
  return out;
}

}  // namespace

Answer handle_open(Exchange& x) {
  const auto in = x.in.take<fuse_open_in>();
  if (!in) return x.malformed();
  const auto opened = x.fs.open(x.call, x.id(), in->flags);
  if (!opened) return x.failed(opened.error());
  return x.with(open_out(x, *opened, in->flags));
}

Answer handle_create(Exchange& x) {
  const auto in = x.in.take<fuse_create_in>();
  if (!in) return x.malformed();
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  const NewName at{.parent = x.id(), .name = name, .mode = in->mode & 07777u, .umask = in->umask & 0777u};
  const auto created = x.fs.create(x.call, at, in->flags);
  if (!created) return x.failed(created.error());
  return x.with(entry_out(x, created->entry.attr, created->entry.valid), open_out(x, created->opened, in->flags));
}

// The name that comes with it means nothing.
Answer handle_tmpfile(Exchange& x) {
  const auto in = x.in.take<fuse_create_in>();
  if (!in || !x.in.text()) return x.malformed();
  const NewName at{.parent = x.id(), .mode = in->mode & 07777u, .umask = in->umask & 0777u};
  const auto created = x.fs.create_nameless(x.call, at, in->flags);
  if (!created) return x.failed(created.error());
  return x.with(entry_out(x, created->entry.attr, created->entry.valid), open_out(x, created->opened, in->flags));
}

Answer handle_read(Exchange& x) {
  const auto in = x.in.take<fuse_read_in>();
  if (!in || in->size > x.space.size()) return x.malformed();
  const auto into = x.space.first(in->size);
  const auto length = x.fs.read(x.call, x.open_file(in->fh), in->offset, into);
  if (!length) return x.failed(length.error());
  return {.body = into.first(std::min(*length, into.size()))};
}

Answer handle_write(Exchange& x) {
  const auto in = x.in.take<fuse_write_in>();
  if (!in) return x.malformed();
  const auto data = x.in.bytes(in->size);
  if (!data) return x.malformed();
  const bool from_cache = (in->write_flags & FUSE_WRITE_CACHE) != 0;
  const auto length = x.fs.write(x.call, {.file = x.open_file(in->fh),
                                          .offset = in->offset,
                                          .data = *data,
                                          .append = !from_cache && (in->flags & O_APPEND) != 0,
                                          .durable = (in->flags & O_DSYNC) != 0,
                                          .from_cache = from_cache});
  if (!length) return x.failed(length.error());
  return x.with(fuse_write_out{.size = static_cast<std::uint32_t>(*length), .padding = 0});
}

Answer handle_flush(Exchange& x) {
  const auto in = x.in.take<fuse_flush_in>();
  if (!in) return x.malformed();
  return x.done(x.fs.flush(x.call, x.open_file(in->fh), in->lock_owner));
}

Answer handle_fsync(Exchange& x) {
  const auto in = x.in.take<fuse_fsync_in>();
  if (!in) return x.malformed();
  return x.done(x.fs.fsync(x.call, x.open_file(in->fh)));
}

Answer handle_release(Exchange& x) {
  const auto in = x.in.take<fuse_release_in>();
  if (!in) return x.malformed();
  std::optional<std::uint64_t> flock_owner;
  if ((in->release_flags & FUSE_RELEASE_FLOCK_UNLOCK) != 0) flock_owner = in->lock_owner;
  x.fs.release(x.call, x.open_file(in->fh), flock_owner);
  return {};
}

Answer handle_lseek(Exchange& x) {
  const auto in = x.in.take<fuse_lseek_in>();
  if (!in || (in->whence != SEEK_DATA && in->whence != SEEK_HOLE)) return x.malformed();
  const auto what = in->whence == SEEK_DATA ? core::SeekWhat::kData : core::SeekWhat::kHole;
  const auto found = x.fs.seek(x.call, x.open_file(in->fh), in->offset, what);
  if (!found) return x.failed(found.error());
  return x.with(fuse_lseek_out{.offset = *found});
}

Answer handle_fallocate(Exchange& x) {
  const auto in = x.in.take<fuse_fallocate_in>();
  if (!in) return x.malformed();
  return x.done(x.fs.allocate(x.call, x.open_file(in->fh), in->offset, in->length, in->mode));
}

Answer handle_copy_file_range(Exchange& x) {
  const auto in = x.in.take<fuse_copy_file_range_in>();
  if (!in || in->flags != 0) return x.malformed();
  const auto copied = x.fs.copy_range(x.call, {.from = x.open_file(in->fh_in),
                                               .from_offset = in->off_in,
                                               .to = {x.file_of(in->nodeid_out), static_cast<Handle>(in->fh_out)},
                                               .to_offset = in->off_out,
                                               .length = std::min(in->len, kCopyBytesMax)});
  if (!copied) return x.failed(copied.error());
  return x.with(fuse_write_out{.size = static_cast<std::uint32_t>(std::min(*copied, kCopyBytesMax))});
}

}  // namespace stoa::native::fuse

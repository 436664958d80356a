#include "frontends/native/storage/wire_values.h"

#include <cstdint>
#include <limits>

namespace stoa::native {
namespace {

Timestamp core_timestamp(U64 ns) {
  return {static_cast<std::int64_t>(ns)};
}

// Of one time: the bit that says which value it is, and the value.
void put_time(const std::optional<core::SetTime>& time, U32 given, U32 now, U32& which, U64& ns) {
  if (!time) return;
  which |= time->server_time ? now : given;
  if (!time->server_time) ns = static_cast<U64>(time->time.ns);
}

}  // namespace

Result<core::FileType> file_type(U32 type) {
  if (type < kRegularFile || type > kFifo) return fail(Errc::kCorrupt, "a type of files that is not known");
  return static_cast<core::FileType>(type);
}

// Both sides number the types alike.
static_assert(static_cast<U32>(core::FileType::kRegular) == kRegularFile);
static_assert(static_cast<U32>(core::FileType::kDirectory) == native::kDirectory);
static_assert(static_cast<U32>(core::FileType::kSymlink) == native::kSymlink);
static_assert(static_cast<U32>(core::FileType::kBlockDevice) == native::kBlockDevice);
static_assert(static_cast<U32>(core::FileType::kCharDevice) == native::kCharDevice);
static_assert(static_cast<U32>(core::FileType::kSocket) == native::kSocket);
static_assert(static_cast<U32>(core::FileType::kFifo) == native::kFifo);

U32 wire_type(core::FileType type) {
  return static_cast<U32>(type);
}

Result<core::Attributes> from_wire(const native::Attributes& attr) {
  STOA_TRY(type, file_type(attr.type));
  // Offsets of POSIX end there.
  if (attr.size > std::numeric_limits<std::int64_t>::max()) return fail(Errc::kCorrupt, "the size of a file");
  return core::Attributes{.id = core::FileId{attr.id},
                          .generation = attr.generation,
                          .type = type,
                          .mode = attr.mode,
                          .links = attr.links,
                          .uid = attr.uid,
                          .gid = attr.gid,
                          .device = {attr.device_major, attr.device_minor},
                          .size = attr.size,
                          .allocated = attr.allocated,
                          .atime = core_timestamp(attr.atime_ns),
                          .mtime = core_timestamp(attr.mtime_ns),
                          .ctime = core_timestamp(attr.ctime_ns),
                          .btime = core_timestamp(attr.btime_ns),
                          .dos = static_cast<core::DosAttributes>(attr.dos),
                          .has_acl = (attr.flags & kHasAccessList) != 0,
                          .change = attr.change,
                          .data_version = attr.data_version};
}

Settings to_settings(const core::SetAttributes& set) {
  Settings wire{};
  if (set.mode) {
    wire.which |= kSetMode;
    wire.mode = *set.mode;
    wire.mode_mask = set.mode_mask;
  }
  if (set.umask) {
    wire.which |= kSetUmask;
    wire.umask = *set.umask;
  }
  if (set.uid) {
    wire.which |= kSetUid;
    wire.uid = *set.uid;
  }
  if (set.gid) {
    wire.which |= kSetGid;
    wire.gid = *set.gid;
  }
  if (set.size) {
    wire.which |= kSetSize;
    wire.size = *set.size;
  }
  put_time(set.atime, kSetAtime, kSetAtimeNow, wire.which, wire.atime_ns);
  put_time(set.mtime, kSetMtime, kSetMtimeNow, wire.which, wire.mtime_ns);
  return wire;
}

U32 wire_disposition(core::OpenDisposition disposition) {
  switch (disposition) {
    case core::OpenDisposition::kOpen:
      return kOpenExisting;
    case core::OpenDisposition::kCreate:
      return kOpenCreate;
    case core::OpenDisposition::kOpenOrCreate:
      return kOpenOrCreate;
    case core::OpenDisposition::kOverwrite:
      return kOpenTruncate;
    case core::OpenDisposition::kOverwriteOrCreate:
      return kOpenTruncateOrCreate;
    case core::OpenDisposition::kCreateExclusive:
      return kOpenExclusive;
    case core::OpenDisposition::kCreateNameless:
      return kOpenNameless;
  }
  return kOpenExisting;
}

U32 wire_create_mode(core::CreateMode mode) {
  switch (mode) {
    case core::CreateMode::kUnchecked:
      return kCreateUnchecked;
    case core::CreateMode::kGuarded:
      return kCreateGuarded;
    case core::CreateMode::kExclusive:
      return kCreateExclusive;
  }
  return kCreateGuarded;
}

U32 wire_xattr_mode(core::XattrMode mode) {
  switch (mode) {
    case core::XattrMode::kSet:
      return kXattrSet;
    case core::XattrMode::kCreate:
      return kXattrCreate;
    case core::XattrMode::kReplace:
      return kXattrReplace;
  }
  return kXattrSet;
}

}  // namespace stoa::native

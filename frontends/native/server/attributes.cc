#include "frontends/native/server/attributes.h"

namespace stoa::native {
namespace {

U64 wire_time(Timestamp time) {
  return static_cast<U64>(time.ns);
}
Timestamp core_time(U64 ns) {
  return {static_cast<std::int64_t>(ns)};
}

}  // namespace

std::uint32_t to_wire(core::FileType type) {
  switch (type) {
    case core::FileType::kRegular:
      return kRegularFile;
    case core::FileType::kDirectory:
      return kDirectory;
    case core::FileType::kSymlink:
      return kSymlink;
    case core::FileType::kBlockDevice:
      return kBlockDevice;
    case core::FileType::kCharDevice:
      return kCharDevice;
    case core::FileType::kSocket:
      return kSocket;
    case core::FileType::kFifo:
      return kFifo;
  }
  return 0;
}

Attributes to_wire(const core::Attributes& attr) {
  return {.id = static_cast<U64>(attr.id),
          .generation = attr.generation,
          .type = to_wire(attr.type),
          .mode = attr.mode,
          .links = attr.links,
          .uid = attr.uid,
          .gid = attr.gid,
          .device_major = attr.device.major,
          .device_minor = attr.device.minor,
          .size = attr.size,
          .allocated = attr.allocated,
          .atime_ns = wire_time(attr.atime),
          .mtime_ns = wire_time(attr.mtime),
          .ctime_ns = wire_time(attr.ctime),
          .btime_ns = wire_time(attr.btime),
          .dos = attr.dos,
          .flags = attr.has_acl ? kHasAccessList : 0u,
          .change = attr.change,
          .data_version = attr.data_version};
}

Result<core::SetAttributes> to_core(const Settings& set) {
  const auto has = [&](std::uint32_t bit) { return (set.which & bit) != 0; };
  const bool sound = (set.which & ~kSettingsKnown) == 0 && (!has(kSetMode) || (set.mode & ~07777u) == 0) &&
                     !(has(kSetAtime) && has(kSetAtimeNow)) && !(has(kSetMtime) && has(kSetMtimeNow)) &&
                     (!has(kSetDos) || ((set.dos | set.dos_mask) & ~std::uint32_t{core::kAllDosAttributes}) == 0);
  if (!sound) return fail(Errc::kInvalid);
  core::SetAttributes to;
  if (has(kSetMode)) {
    to.mode = set.mode;
    if (set.mode_mask != 0) to.mode_mask = set.mode_mask & 07777;
  }
  if (has(kSetUmask)) to.umask = set.umask & 0777;
  if (has(kSetUid)) to.uid = set.uid;
  if (has(kSetGid)) to.gid = set.gid;
  if (has(kSetSize)) to.size = set.size;
  if (has(kSetAtime)) to.atime = core::SetTime{.time = core_time(set.atime_ns)};
  if (has(kSetAtimeNow)) to.atime = core::SetTime{.server_time = true};
  if (has(kSetMtime)) to.mtime = core::SetTime{.time = core_time(set.mtime_ns)};
  if (has(kSetMtimeNow)) to.mtime = core::SetTime{.server_time = true};
  if (has(kSetBtime)) to.btime = core_time(set.btime_ns);
  if (has(kSetDos)) {
    to.dos = static_cast<core::DosAttributes>(set.dos);
    to.dos_mask = static_cast<core::DosAttributes>(set.dos_mask);
  }
  return to;
}

}  // namespace stoa::native

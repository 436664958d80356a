#include "frontends/native/fuse/attributes.h"

#include <algorithm>

namespace stoa::native::fuse {
namespace {

// What programs should read at a time; a megabyte would make each buffered file of a program that large.
constexpr std::uint32_t kPreferredIoBytes = 128u << 10;
constexpr std::uint64_t kStatBlockBytes = 512;
constexpr std::int64_t kSecondsMost = INT64_MAX / 1'000'000'000 - 1;
constexpr std::uint32_t kNanosecondsMost = 999'999'999;
constexpr std::uint32_t kStatxBasicAndBirth = 0x7ffu | 0x800u;  // STATX_BASIC_STATS | STATX_BTIME

StatxTime statx_time(Timestamp time) {
  return {.seconds = time.seconds(), .nanoseconds = time.nanoseconds(), .reserved = 0};
}

std::uint64_t stat_blocks(const core::Attributes& attr) {
  return attr.allocated / kStatBlockBytes + (attr.allocated % kStatBlockBytes != 0 ? 1 : 0);
}

core::SetTime time_to_set(bool now, std::uint64_t seconds, std::uint32_t nanoseconds) {
  if (now) return {.server_time = true};
  // A Timestamp covers 1677 to 2262; what is outside becomes the nearest time.
  const auto within = std::clamp(static_cast<std::int64_t>(seconds), -kSecondsMost, kSecondsMost);
  return {.time = Timestamp::from(within, std::min(nanoseconds, kNanosecondsMost))};
}

}  // namespace

std::uint32_t type_bits(core::FileType type) {
  switch (type) {
    case core::FileType::kRegular:
      return S_IFREG;
    case core::FileType::kDirectory:
      return S_IFDIR;
    case core::FileType::kSymlink:
      return S_IFLNK;
    case core::FileType::kBlockDevice:
      return S_IFBLK;
    case core::FileType::kCharDevice:
      return S_IFCHR;
    case core::FileType::kSocket:
      return S_IFSOCK;
    case core::FileType::kFifo:
      return S_IFIFO;
  }
  return S_IFREG;
}

core::FileType type_of(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return core::FileType::kDirectory;
    case S_IFLNK:
      return core::FileType::kSymlink;
    case S_IFBLK:
      return core::FileType::kBlockDevice;
    case S_IFCHR:
      return core::FileType::kCharDevice;
    case S_IFSOCK:
      return core::FileType::kSocket;
    case S_IFIFO:
      return core::FileType::kFifo;
    default:
      return core::FileType::kRegular;
  }
}

// new_encode_dev() of the kernel: 12 bits of the major number between the parts of the minor one.
core::DeviceNumber device_of(std::uint32_t number) {
  return {.major = (number >> 8) & 0xfffu, .minor = (number & 0xffu) | ((number >> 12) & 0xfff00u)};
}

std::uint32_t kernel_number_of(core::DeviceNumber device) {
  return (device.minor & 0xffu) | ((device.major & 0xfffu) << 8) | ((device.minor & 0xfff00u) << 12);
}

fuse_attr to_kernel(const core::Attributes& attr) {
  fuse_attr out{};
  out.ino = static_cast<std::uint64_t>(attr.id);
  out.size = attr.size;
  out.blocks = stat_blocks(attr);
  out.atime = static_cast<std::uint64_t>(attr.atime.seconds());
  out.mtime = static_cast<std::uint64_t>(attr.mtime.seconds());
  out.ctime = static_cast<std::uint64_t>(attr.ctime.seconds());
  out.atimensec = attr.atime.nanoseconds();
  out.mtimensec = attr.mtime.nanoseconds();
  out.ctimensec = attr.ctime.nanoseconds();
  out.mode = type_bits(attr.type) | (attr.mode & 07777u);
  out.nlink = attr.links;
  out.uid = attr.uid;
  out.gid = attr.gid;
  out.rdev = kernel_number_of(attr.device);
  out.blksize = kPreferredIoBytes;
  return out;
}

StatxAttributes to_statx(const core::Attributes& attr) {
  StatxAttributes out{};
  out.mask = kStatxBasicAndBirth;
  out.blksize = kPreferredIoBytes;
  out.nlink = attr.links;
  out.uid = attr.uid;
  out.gid = attr.gid;
  out.mode = static_cast<std::uint16_t>(type_bits(attr.type) | (attr.mode & 07777u));
  out.ino = static_cast<std::uint64_t>(attr.id);
  out.size = attr.size;
  out.blocks = stat_blocks(attr);
  out.atime = statx_time(attr.atime);
  out.btime = statx_time(attr.btime);
  out.ctime = statx_time(attr.ctime);
  out.mtime = statx_time(attr.mtime);
  out.rdev_major = attr.device.major;
  out.rdev_minor = attr.device.minor;
  return out;
}

core::SetAttributes from_kernel(const fuse_setattr_in& in) {
  core::SetAttributes set;
  if ((in.valid & FATTR_MODE) != 0) set.mode = in.mode & 07777u;
  if ((in.valid & FATTR_UID) != 0) set.uid = in.uid;
  if ((in.valid & FATTR_GID) != 0) set.gid = in.gid;
  if ((in.valid & FATTR_SIZE) != 0) set.size = in.size;
  if ((in.valid & FATTR_ATIME) != 0) {
    set.atime = time_to_set((in.valid & FATTR_ATIME_NOW) != 0, in.atime, in.atimensec);
  }
  if ((in.valid & FATTR_MTIME) != 0) {
    set.mtime = time_to_set((in.valid & FATTR_MTIME_NOW) != 0, in.mtime, in.mtimensec);
  }
  return set;
}

}  // namespace stoa::native::fuse

// The kernel's FUSE protocol: <linux/fuse.h>, and additions of later kernels that Debian 12's copy lacks.
//
// The names here are ours, so that a newer <linux/fuse.h> does not collide. Layouts are ABI and never change.
#pragma once

#include <linux/fuse.h>

#include <cstddef>
#include <cstdint>

namespace stoa::native::fuse {

// Flags of INIT above bit 31 travel in `flags2`.
inline constexpr std::uint64_t kInitDirectIoAllowMmap = 1ULL << 36;  // 7.39: shared mmap of FOPEN_DIRECT_IO files
inline constexpr std::uint64_t kInitNoExportSupport = 1ULL << 38;    // 7.39: node ids are not looked up by number

// FUSE_STATX of 7.39: attributes with the birth time.
inline constexpr std::uint32_t kOpStatx = 52;

struct StatxIn {
  std::uint32_t getattr_flags;
  std::uint32_t reserved;
  std::uint64_t fh;
  std::uint32_t sx_flags;
  std::uint32_t sx_mask;
};
struct StatxTime {
  std::int64_t seconds;
  std::uint32_t nanoseconds;
  std::int32_t reserved;
};
struct StatxAttributes {
  std::uint32_t mask;
  std::uint32_t blksize;
  std::uint64_t attributes;
  std::uint32_t nlink;
  std::uint32_t uid;
  std::uint32_t gid;
  std::uint16_t mode;
  std::uint16_t spare0;
  std::uint64_t ino;
  std::uint64_t size;
  std::uint64_t blocks;
  std::uint64_t attributes_mask;
  StatxTime atime, btime, ctime, mtime;
  std::uint32_t rdev_major;
  std::uint32_t rdev_minor;
  std::uint32_t dev_major;
  std::uint32_t dev_minor;
  std::uint64_t spare2[14];
};
struct StatxOut {
  std::uint64_t attr_valid;
  std::uint32_t attr_valid_nsec;
  std::uint32_t flags;
  std::uint64_t spare[2];
  StatxAttributes stat;
};

static_assert(sizeof(StatxIn) == 24);
static_assert(sizeof(StatxAttributes) == 256);
static_assert(sizeof(StatxOut) == 288);
static_assert(sizeof(fuse_in_header) == 40);
static_assert(sizeof(fuse_out_header) == 16);
static_assert(sizeof(fuse_init_in) == 64);
static_assert(sizeof(fuse_init_out) == 64);
static_assert(sizeof(fuse_entry_out) == 128);

// The newest version of the protocol that this code was written for; the kernel takes the smaller one of both.
inline constexpr std::uint32_t kProtocolMajor = 7;
inline constexpr std::uint32_t kProtocolMinor = 42;
// Linux 5.4: the first with FUSE_INIT_EXT-sized replies, max_pages and copy_file_range.
inline constexpr std::uint32_t kProtocolMinorLeast = 31;

inline constexpr std::uint32_t kIoBytes = 1u << 20;                         // of one READ or WRITE
inline constexpr std::uint32_t kRequestHeadBytes = 4096;                    // header, arguments and names of a request
inline constexpr std::size_t kRequestBytes = kRequestHeadBytes + kIoBytes;  // of the buffer that a request is read into

}  // namespace stoa::native::fuse

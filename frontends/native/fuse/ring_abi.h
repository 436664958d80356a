// FUSE over io_uring: layouts of the kernel (7.42, Linux 6.14) that Debian 12's <linux/fuse.h> lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::native::fuse {

inline constexpr std::uint64_t kInitOverIoUring = 1ULL << 41;  // a flag of INIT
inline constexpr std::uint32_t kOverIoUringMinor = 42;

// Commands of an IORING_OP_URING_CMD on /dev/fuse.
enum class RingCommand : std::uint32_t {
  kRegister = 1,        // a new entry of a queue; completes with its first request
  kCommitAndFetch = 2,  // the reply of an entry; completes with its next request
};

// In the second half of a submission of 128 bytes.
struct RingCommandArguments {
  std::uint64_t flags;
  std::uint64_t commit_id;
  std::uint16_t queue;
  std::uint8_t padding[6];
};

// The memory of an entry is this head and a payload. A request: its header, the first argument where that is a
// structure, and all else in the payload. A reply: its header, and all else in the payload.
struct RingEntryHead {
  std::byte header[128];
  std::byte argument[128];
  std::uint64_t flags;
  std::uint64_t commit_id;
  std::uint32_t payload_bytes;
  std::uint32_t padding;
  std::uint64_t reserved;
};

static_assert(sizeof(RingCommandArguments) == 24);
static_assert(sizeof(RingEntryHead) == 288);

}  // namespace stoa::native::fuse

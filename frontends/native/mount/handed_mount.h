// All that a mount's process hands to the one that takes over, and its layout. The kernel's descriptors go beside it.
//
// The layout is little-endian and in the order of the members: numbers, lists with their count (U32) before them, texts
// with their length (U32). Whoever reads it has said before which version it knows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "frontends/native/cache/local_opens.h"
#include "frontends/native/client/session_state.h"
#include "frontends/native/data/open_state.h"
#include "frontends/native/fuse/device.h"
#include "frontends/native/mount/mount_options.h"
#include "frontends/native/mount/mounted_file_system.h"

namespace stoa::native::mount {

inline constexpr std::uint32_t kHandedVersion = 2;         // one more with every change of the layout
inline constexpr std::size_t kHandedBytesMost = 1u << 30;  // some millions of open files

struct HandedMount {
  SessionState session;
  BufferedState buffers;
  std::vector<LocalOpen> local_opens;
  MountedFileSystem::State files;
  fuse::DeviceState device;
};

Bytes encode_mount(const HandedMount& mount);
// kCorrupt: it is cut, too long, or has a count that its bytes cannot have.
Result<HandedMount> decode_mount(std::span<const std::byte> bytes);

Bytes encode_options(const MountOptions& options);
Result<MountOptions> decode_options(std::span<const std::byte> bytes);

}  // namespace stoa::native::mount

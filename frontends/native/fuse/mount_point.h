// Mounting and unmounting: by mount(2) where that is allowed, else by fusermount3.
#pragma once

#include <string>

#include "base/error.h"
#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::fuse {

struct MountPoint {
  std::string directory;
  std::string source;  // the first column of /proc/mounts
  bool read_only = false;
  bool no_programs = false;  // noexec
  // Every user of the machine may use it; only where the superuser mounts. Else the mounting user alone.
  bool for_all_users = false;
};

// The descriptor of the new mount. Programs with set-user-id bits and device nodes have no effect below it. Blocks for
// the helper program. Errors carry one sentence with the cause and what to do.
Result<OwnedFd> mount_fuse(const MountPoint& at);

// Lets the kernel read further ahead in files of the mount than its 128 KiB, where this process may; else nothing
// happens. For a mount that has been answered INIT. Asks the file system nothing.
void raise_read_ahead(const std::string& directory);

// kBusy: in use. `lazy`: the directory is free at once, and the file system ends with its last open file. kNotFound:
// nothing is mounted there.
Status unmount_fuse(const std::string& directory, bool lazy);

}  // namespace stoa::native::fuse

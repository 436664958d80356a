// The system calls that can fail for want of space or health, behind one seam, so that tests make them fail.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

namespace stoa::blob_local {

// Each behaves as the system call of its name: -1 and errno on failure. Thread-safe.
class HostIo {
 public:
  virtual ~HostIo() = default;
  virtual ssize_t pwritev(int fd, const iovec* pieces, int count, off_t offset);
  virtual ssize_t pread(int fd, void* into, std::size_t size, off_t offset);
  virtual int fdatasync(int fd);
  virtual int fsync_directory(int fd);
  virtual int fallocate(int fd, int mode, off_t offset, off_t length);
};

HostIo& real_host_io();

}  // namespace stoa::blob_local

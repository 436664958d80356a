#include "backends/blob/local/host_io.h"

#include <fcntl.h>
#include <unistd.h>

namespace stoa::blob_local {

ssize_t HostIo::pwritev(int fd, const iovec* pieces, int count, off_t offset) {
  return ::pwritev(fd, pieces, count, offset);
}
ssize_t HostIo::pread(int fd, void* into, std::size_t size, off_t offset) {
  return ::pread(fd, into, size, offset);
}
int HostIo::fdatasync(int fd) {
  return ::fdatasync(fd);
}
int HostIo::fsync_directory(int fd) {
  return ::fsync(fd);
}
int HostIo::fallocate(int fd, int mode, off_t offset, off_t length) {
  return ::fallocate(fd, mode, offset, length);
}

HostIo& real_host_io() {
  static HostIo io;
  return io;
}

}  // namespace stoa::blob_local

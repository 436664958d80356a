#include "bench/load/batched_socket.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace stoa::bench {
namespace {

constexpr std::size_t kReadAhead = 64 << 10;
constexpr std::size_t kDirect = 32 << 10;  // from here on a copy costs more than a system call

struct Batch {
  std::vector<char> out;
  std::size_t out_at = 0;
  std::unique_ptr<char[]> in = std::make_unique<char[]>(kReadAhead);
  std::size_t in_at = 0;
  std::size_t in_end = 0;
};
std::array<std::unique_ptr<Batch>, 1024> batches;

Batch* batch_of(int fd) {
  return fd >= 0 && static_cast<std::size_t>(fd) < batches.size() ? batches[static_cast<std::size_t>(fd)].get()
                                                                  : nullptr;
}

ssize_t real_send(int fd, const void* data, std::size_t size, int flags) {
  return syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
}
ssize_t real_recv(int fd, void* data, std::size_t size, int flags) {
  return syscall(SYS_recvfrom, fd, data, size, flags, nullptr, nullptr);
}

}  // namespace

void batch_socket(int fd) {
  if (fd >= 0 && static_cast<std::size_t>(fd) < batches.size())
    batches[static_cast<std::size_t>(fd)] = std::make_unique<Batch>();
}

bool has_unsent(int fd) {
  const Batch* batch = batch_of(fd);
  return batch != nullptr && batch->out_at < batch->out.size();
}

bool has_read_ahead(int fd) {
  const Batch* batch = batch_of(fd);
  return batch != nullptr && batch->in_at < batch->in_end;
}

bool flush_socket(int fd) {
  Batch* batch = batch_of(fd);
  if (batch == nullptr) return true;
  while (batch->out_at < batch->out.size()) {
    const ssize_t sent =
        real_send(fd, batch->out.data() + batch->out_at, batch->out.size() - batch->out_at, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    batch->out_at += static_cast<std::size_t>(sent);
  }
  batch->out.clear();
  batch->out_at = 0;
  return true;
}

}  // namespace stoa::bench

// The dynamic linker resolves libnfs's calls to these, as the program comes before the C library.
extern "C" ssize_t send(int fd, const void* data, std::size_t size, int flags) {
  using namespace stoa::bench;
  Batch* batch = batch_of(fd);
  if (batch == nullptr) return real_send(fd, data, size, flags);
  if (size >= kDirect) {
    if (!flush_socket(fd)) return -1;
    if (has_unsent(fd)) {
      errno = EAGAIN;
      return -1;
    }
    return real_send(fd, data, size, flags);
  }
  const auto* bytes = static_cast<const char*>(data);
  batch->out.insert(batch->out.end(), bytes, bytes + size);
  return static_cast<ssize_t>(size);
}

extern "C" ssize_t recv(int fd, void* data, std::size_t size, int flags) {
  using namespace stoa::bench;
  Batch* batch = batch_of(fd);
  if (batch == nullptr) return real_recv(fd, data, size, flags);
  if (batch->in_at == batch->in_end) {
    if (size >= kDirect) return real_recv(fd, data, size, flags);
    const ssize_t got = real_recv(fd, batch->in.get(), kReadAhead, flags);
    if (got <= 0) return got;
    batch->in_at = 0;
    batch->in_end = static_cast<std::size_t>(got);
  }
  const std::size_t taken = std::min(size, batch->in_end - batch->in_at);
  std::memcpy(data, batch->in.get() + batch->in_at, taken);
  batch->in_at += taken;
  return static_cast<ssize_t>(taken);
}

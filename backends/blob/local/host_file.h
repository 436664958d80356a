// One open host file: a container of slots or the own file of a big blob. Tracks the writes since its last sync.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "backends/blob/local/buffer_pool.h"
#include "backends/blob/local/host_io.h"
#include "base/error.h"
#include "core/api/io.h"

namespace stoa::blob_local {

inline constexpr std::uint64_t kDirectBytesMin = 512u << 10;  // shorter writes go through the page cache

struct FileMetrics {
  Counter& direct_bytes;
  Counter& buffered_bytes;
  Counter& syncs;
  Counter& syncs_skipped;
};

// Thread-safe. Lives as long as it is referenced (by the cache, an operation, a slice on its way out).
class HostFile {
 public:
  struct Environment {
    HostIo& io;
    BufferPool& buffers;
    FileMetrics& metrics;
    std::atomic<bool>& direct;  // the file system takes O_DIRECT; switched off when it turns out not to
  };
  enum class Open : std::uint8_t { kExisting, kCreate };
  // kNotFound; kExists when it was to be created.
  static Result<std::shared_ptr<HostFile>> open(const Environment& env, const std::string& path, Open how);
  ~HostFile();
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;

  int fd() const { return fd_; }
  std::uint64_t size() const { return size_.load(std::memory_order_acquire); }

  // Never short: zeros behind the end.
  Status read(std::uint64_t offset, std::span<std::byte> into);
  Status write(std::uint64_t offset, core::ConstBuffers data, std::uint64_t total);
  // Makes the file at least that long (a hole).
  Status extend(std::uint64_t size);
  // Takes real space ahead of a file that grows by large writes, so that they need not wait for each other.
  void allocate_ahead(std::uint64_t offset, std::uint64_t length);
  Status allocate(std::uint64_t offset, std::uint64_t length, bool extend);
  Status punch(std::uint64_t offset, std::uint64_t length);
  // Zeros, with real space behind them.
  Status zero(std::uint64_t offset, std::uint64_t length);
  Result<std::uint64_t> seek(std::uint64_t offset, std::uint64_t end, bool data);
  Result<std::uint64_t> allocated_bytes();

  // Makes durable all writes before the call, and the file's name. One fdatasync serves all waiters; nothing happens
  // when nothing was written. Once the kernel has reported a failure the pages may be clean and lost, so the file
  // fails for ever. A restart of the process reads what the disk has.
  Status sync();
  bool dirty() const { return written_.load(std::memory_order_acquire) != synced_.load(std::memory_order_acquire); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  HostFile(const Environment& env, std::string path, int fd, std::uint64_t size);
  Status write_buffered(std::uint64_t offset, core::ConstBuffers data, std::uint64_t skip, std::uint64_t length);
  Status write_direct(std::uint64_t offset, core::ConstBuffers data, std::uint64_t skip, std::uint64_t length);
  Status put(int fd, std::uint64_t offset, std::span<const std::byte> bytes);
  int direct_fd();
  void wrote(std::uint64_t end);
  Status sync_now(bool name_too);

  const Environment env_;
  const std::string path_;
  const int fd_;
  std::atomic<int> direct_fd_{-1};
  std::atomic<std::uint64_t> size_;      // at least the size that our own calls have made
  std::mutex grow_mutex_;                // guards changes of the host file's length
  std::atomic<std::uint64_t> ahead_{0};  // real space was taken up to here

  // A file that was just opened may have been written by an earlier life: it counts as written.
  std::atomic<std::uint64_t> written_{1};
  std::atomic<std::uint64_t> synced_{0};
  std::atomic<bool> failed_{false};
  std::mutex sync_mutex_;  // guards syncing_ and name_durable_
  std::condition_variable sync_done_;
  bool syncing_ = false;
  bool name_durable_ = false;
};

}  // namespace stoa::blob_local

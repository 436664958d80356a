#include "backends/kv/rocksdb/log_files.h"

#include <fcntl.h>
#include <rocksdb/file_system.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace stoa::kv {
namespace {

constexpr std::size_t kZerosBytes = 256u << 10;  // at once, so that a sync of the log in use waits for little

// True: `path` is a new file of that many zeros, safe on disk. By way of the page cache, where a log's pages then are: an
// append to a block that is on disk only would have to read it first.
bool write_zeros(const std::string& path, std::uint64_t bytes, const std::stop_token& stop) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const std::vector<char> zeros(kZerosBytes);
  bool good = ::fallocate(fd, 0, 0, static_cast<off_t>(bytes)) == 0;
  for (std::uint64_t at = 0; good && at < bytes; at += kZerosBytes) {
    good = !stop.stop_requested() &&
           ::pwrite(fd, zeros.data(), kZerosBytes, static_cast<off_t>(at)) == static_cast<ssize_t>(kZerosBytes) &&
           ::fdatasync(fd) == 0;
  }
  good = good && ::fsync(fd) == 0;
  ::close(fd);
  if (!good) ::unlink(path.c_str());
  return good;
}

class LogFiles final : public rocksdb::FileSystemWrapper {
 public:
  LogFiles(const std::shared_ptr<rocksdb::FileSystem>& host, const std::string& folder, std::uint64_t bytes)
      : FileSystemWrapper(host), spare_(folder + "/SPARE"), bytes_(bytes / kZerosBytes * kZerosBytes) {
    // A spare file of an earlier run may hold records: a power cut can undo that it was made a log, and keep what was
    // written to it. Its place is taken by a new one.
    ready_ = write_zeros(spare_, bytes_, {});
    maker_ = std::jthread([this](const std::stop_token& stop) { make_spares(stop); });
  }
  ~LogFiles() override {
    maker_.request_stop();
    if (maker_.joinable()) maker_.join();
    ::unlink(spare_.c_str());
  }
  const char* Name() const override { return "stoa.LogFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (path.ends_with(".log")) {
      const std::lock_guard lock(mutex_);
      if (ready_) {
        ready_ = false;
        wanted_.notify_one();
        // The log is cut to its length when it is closed, also where RocksDB allocated nothing itself.
        rocksdb::FileOptions sized = options;
        sized.fallocate_with_keep_size = false;
        const rocksdb::IOStatus reused = target()->ReuseWritableFile(path, spare_, sized, result, debug);
        if (reused.ok()) return reused;
      }
    }
    return target()->NewWritableFile(path, options, result, debug);
  }

 private:
  void make_spares(const std::stop_token& stop) {
    const std::string unfinished = spare_ + ".new";
    std::unique_lock lock(mutex_);
    while (wanted_.wait(lock, stop, [this] { return !ready_; })) {
      lock.unlock();
      const bool made = write_zeros(unfinished, bytes_, stop) && ::rename(unfinished.c_str(), spare_.c_str()) == 0;
      lock.lock();
      if (!made) return;  // for want of room: logs grow as they are written
      ready_ = true;
    }
  }

  const std::string spare_;
  const std::uint64_t bytes_;
  std::mutex mutex_;  // guards ready_, and that spare_ is taken once
  std::condition_variable_any wanted_;
  bool ready_ = false;
  std::jthread maker_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> env_with_zeroed_logs(const std::string& folder, std::uint64_t bytes) {
  return rocksdb::NewCompositeEnv(std::make_shared<LogFiles>(rocksdb::FileSystem::Default(), folder, bytes));
}

}  // namespace stoa::kv

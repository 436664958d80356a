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

// Makes `path`, which may be there, a file of that many zeros, safe on disk. By way of the page cache, where a log's
// pages then are: an append to a block that is on disk only would have to read it first.
bool write_zeros(const std::string& path, std::uint64_t bytes, const std::stop_token& stop) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const std::vector<char> zeros(kZerosBytes);
  const auto size = static_cast<off_t>(bytes);
  bool good = ::ftruncate(fd, size) == 0 && ::fallocate(fd, 0, 0, size) == 0;
  for (off_t at = 0; good && at < size; at += static_cast<off_t>(kZerosBytes)) {
    good = !stop.stop_requested() && ::pwrite(fd, zeros.data(), kZerosBytes, at) == static_cast<ssize_t>(kZerosBytes) &&
           ::fdatasync(fd) == 0;
  }
  good = good && ::fsync(fd) == 0;
  ::close(fd);
  if (!good) ::unlink(path.c_str());
  return good;
}

// A log in a file that has all its blocks. Nothing is allocated for it, so that RocksDB does not cut it when it is
// closed.
class ZeroedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  void PrepareWrite(std::size_t, std::size_t, const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {}
};

bool is_log(const std::string& path) {
  return path.ends_with(".log");
}

class LogFiles final : public rocksdb::FileSystemWrapper {
 public:
  LogFiles(const std::shared_ptr<rocksdb::FileSystem>& host, const std::string& folder, std::uint64_t bytes,
           std::function<bool()> has_room)
      : FileSystemWrapper(host),
        spare_(folder + "/SPARE"),
        unfinished_(folder + "/SPARE.new"),
        bytes_(bytes / kZerosBytes * kZerosBytes),
        has_room_(std::move(has_room)) {
    // A spare file of an earlier run may have records: a power cut can undo its use as a log, and keep the data
    // written to it.
    if (has_room_()) {
      ready_ = write_zeros(spare_, bytes_, {});
    } else {
      ::unlink(spare_.c_str());
      ::unlink(unfinished_.c_str());
      given_up_ = true;
    }
    maker_ = std::jthread([this](const std::stop_token& stop) { make_spares(stop); });
  }
  ~LogFiles() override {
    maker_.request_stop();
    if (maker_.joinable()) maker_.join();
    ::unlink(spare_.c_str());
    ::unlink(unfinished_.c_str());
  }
  const char* Name() const override { return "stoa.LogFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (!is_log(path)) return target()->NewWritableFile(path, options, result, debug);
    const std::lock_guard lock(mutex_);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const bool reused = ready_ && target()->ReuseWritableFile(path, spare_, options, &file, debug).ok();
    // Also when it was removed and could not be used: the next log gets a spare file again.
    ready_ = false;
    given_up_ = given_up_ && !has_room_();
    wanted_.notify_one();
    if (!reused) return target()->NewWritableFile(path, options, result, debug);
    *result = std::make_unique<ZeroedLog>(std::move(file));
    return rocksdb::IOStatus::OK();
  }

  // An old log becomes the next spare file: its blocks are allocated, its pages in memory.
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (is_log(path)) {
      const std::lock_guard lock(mutex_);
      if (!making_ && !given_up_ && has_room_() && ::access(unfinished_.c_str(), F_OK) != 0) {
        return target()->RenameFile(path, unfinished_, options, debug);
      }
    }
    return target()->DeleteFile(path, options, debug);
  }

 private:
  void make_spares(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wanted_.wait(lock, stop, [this] { return !ready_ && !given_up_; })) {
      making_ = true;
      lock.unlock();
      const bool made = write_zeros(unfinished_, bytes_, stop) && ::rename(unfinished_.c_str(), spare_.c_str()) == 0;
      lock.lock();
      making_ = false;
      given_up_ = !made;  // for want of room: until there is some, logs are made and deleted as RocksDB does it
      ready_ = made;
    }
  }

  const std::string spare_;
  const std::string unfinished_;
  const std::uint64_t bytes_;
  const std::function<bool()> has_room_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable_any wanted_;
  bool ready_ = false;   // spare_ is there
  bool making_ = false;  // unfinished_ is being zeroed
  bool given_up_ = false;
  std::jthread maker_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> zeroed_logs(const std::shared_ptr<rocksdb::FileSystem>& host,
                                                 const std::string& folder, std::uint64_t bytes,
                                                 std::function<bool()> has_room) {
  return std::make_shared<LogFiles>(host, folder, bytes, std::move(has_room));
}

}  // namespace stoa::kv

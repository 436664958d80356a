#include "backends/kv/rocksdb/guarded_files.h"

#include <algorithm>

namespace stoa::kv {
namespace {

constexpr std::uint64_t kStepBytes = 1u << 20;

class GuardedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  // `covered`: this many bytes of the file have their blocks.
  GuardedFile(std::unique_ptr<rocksdb::FSWritableFile> file, DiskReserve& reserve, std::uint64_t covered)
      : FSWritableFileOwnerWrapper(std::move(file)), reserve_(reserve), covered_(covered) {}
  ~GuardedFile() override { reserve_.took(promised_); }

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    return append(data.size(), [&] { return FSWritableFileOwnerWrapper::Append(data, options, debug); });
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& info, rocksdb::IODebugContext* debug) override {
    return append(data.size(), [&] { return FSWritableFileOwnerWrapper::Append(data, options, info, debug); });
  }
  void SetIOPriority(rocksdb::Env::IOPriority priority) override {
    urgency_ = priority == rocksdb::Env::IO_LOW ? Urgency::kCompaction : Urgency::kMust;
    FSWritableFileOwnerWrapper::SetIOPriority(priority);
  }
  // Allocating a whole table at once would take space that others need.
  void SetPreallocationBlockSize(std::size_t size) override {
    FSWritableFileOwnerWrapper::SetPreallocationBlockSize(std::min<std::size_t>(size, kStepBytes));
  }

 private:
  template <class Write>
  rocksdb::IOStatus append(std::uint64_t bytes, Write write) {
    const std::uint64_t left = covered_ + promised_ - written_;
    if (bytes > left) {
      const std::uint64_t step = std::max(kStepBytes, bytes - left);
      if (!reserve_.make_room(step, urgency_)) return rocksdb::IOStatus::NoSpace("the disk of the metadata is full");
      promised_ += step;
    }
    if (rocksdb::IOStatus done = write(); !done.ok()) return done;
    written_ += bytes;
    if (written_ > covered_) {
      reserve_.took(written_ - covered_);
      promised_ -= written_ - covered_;
      covered_ = written_;
    }
    return rocksdb::IOStatus::OK();
  }

  DiskReserve& reserve_;
  std::uint64_t covered_;       // bytes of the file that have their blocks
  std::uint64_t promised_ = 0;  // room for this many behind them
  std::uint64_t written_ = 0;
  Urgency urgency_ = Urgency::kMust;
};

class GuardedFiles final : public rocksdb::FileSystemWrapper {
 public:
  GuardedFiles(const std::shared_ptr<rocksdb::FileSystem>& host, DiskReserve& reserve)
      : FileSystemWrapper(host), reserve_(reserve) {}
  const char* Name() const override { return "stoa.GuardedFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    // RocksDB cannot go on when a log cannot be made, for want of room in its folder, say.
    if (path.ends_with(".log") && reserve_.make_room(kStepBytes, Urgency::kMust)) reserve_.took(kStepBytes);
    return guarded(target()->NewWritableFile(path, options, result, debug), result, 0);
  }
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* debug) override {
    return guarded(target()->ReopenWritableFile(path, options, result, debug), result, 0);
  }
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* debug) override {
    std::uint64_t bytes = 0;
    if (!target()->GetFileSize(old, options.io_options, &bytes, debug).ok()) bytes = 0;
    return guarded(target()->ReuseWritableFile(path, old, options, result, debug), result, bytes);
  }

  // RocksDB asks after something failed for want of room, to see whether it is worth trying again. Most of all that is
  // a flush; a compaction may fail once more.
  rocksdb::IOStatus GetFreeSpace(const std::string&, const rocksdb::IOOptions&, std::uint64_t* free,
                                 rocksdb::IODebugContext*) override {
    const DiskReserve::State now = reserve_.state();
    const std::uint64_t all = now.free + now.held, kept = reserve_.plan().recovery();
    *free = all > kept ? all - kept : 0;
    return rocksdb::IOStatus::OK();
  }

 private:
  rocksdb::IOStatus guarded(rocksdb::IOStatus opened, std::unique_ptr<rocksdb::FSWritableFile>* file,
                            std::uint64_t covered) {
    if (opened.ok()) *file = std::make_unique<GuardedFile>(std::move(*file), reserve_, covered);
    return opened;
  }
  DiskReserve& reserve_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> guarded_files(const std::shared_ptr<rocksdb::FileSystem>& host,
                                                   DiskReserve& reserve) {
  return std::make_shared<GuardedFiles>(host, reserve);
}

}  // namespace stoa::kv

// How programs read the small files of one directory: how many of them to read ahead.
//
// Reading ahead has to be earned. Each file that a program begins to read earns some; one that had been read ahead
// earns at least twice what it has cost, so that what is of use is done more and more of. One that nobody reads costs
// what it has cost again. So a program that reads a few files here and there wastes no more than a small multiple of
// what it reads, in whatever order, and one that reads a directory soon waits for few of its files.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

namespace stoa::native::data {

// Thread-safe; calls nobody. Costs are bytes, with kFileCost for each file.
class DirectoryReads {
 public:
  static constexpr std::uint64_t kFileBytesMost = 256 * 1024;  // of a small file
  static constexpr std::uint64_t kFileCost = 4096;
  static constexpr std::uint64_t kReadEarns = 64 * 1024;
  static constexpr std::uint64_t kPieceLeast = 256 * 1024;  // less is not worth a message: four reads
  static constexpr std::uint64_t kPieceMost = 512 * 1024;   // of one message
  static constexpr std::uint64_t kEarnedMost = 4 * 1024 * 1024;
  static constexpr std::uint64_t kWindowMost = 4 * 1024 * 1024;  // that nobody has read yet, of a large directory

  static std::uint64_t cost(std::uint64_t size) { return size + kFileCost; }

  // A program has begun to read a file. True: a piece is to be read ahead now, and the caller says end() when that, and
  // what is earned meanwhile, is done.
  [[nodiscard]] bool seen(std::uint64_t size, bool was_ahead);
  // What may be read ahead now, as a cost; 0: no more. `entries`: that the directory is known to have. `small`: it is
  // taken whole when that costs no more. The caller has said or says taken() for each file.
  std::uint64_t may_take(std::size_t entries, std::uint64_t small) const;
  bool is_small(std::size_t entries, std::uint64_t small) const;
  // There was nothing, or no room for it: the next look has to be earned again.
  void found_nothing();
  void end();

  // Of a file that is being read ahead: see FileAhead.
  void taken(std::uint64_t cost);
  void used(std::uint64_t cost);
  void wasted(std::uint64_t cost);

  // Many reads in a row found nothing, so that the files are read elsewhere.
  bool is_lost() const;
  // What one file costs, as far as is known.
  std::uint64_t mean_cost() const;

 private:
  static constexpr std::uint32_t kMissesLost = 8;
  bool is_due() const;
  void earn(std::uint64_t cost);
  std::uint64_t mean() const { return reads_ == 0 ? kFileCost : read_cost_ / reads_; }

  mutable std::mutex mutex_;  // guards all below
  std::int64_t earned_ = 0;
  std::uint64_t unread_ = 0;  // what was taken and neither used nor wasted
  std::uint64_t reads_ = 0, read_cost_ = 0;
  std::uint32_t misses_ = 0;  // in a row
  bool at_work_ = false;
};

// One file that is being or was read ahead: wasted, unless it is used before its end. Not thread-safe.
class FileAhead {
 public:
  FileAhead(std::shared_ptr<DirectoryReads> of, std::uint64_t size) : of_(std::move(of)), cost_(of_->cost(size)) {
    of_->taken(cost_);
  }
  ~FileAhead() {
    if (!used_) of_->wasted(cost_);
  }
  FileAhead(const FileAhead&) = delete;
  void use() {
    if (!used_) of_->used(cost_);
    used_ = true;
  }

 private:
  const std::shared_ptr<DirectoryReads> of_;
  const std::uint64_t cost_;
  bool used_ = false;
};

}  // namespace stoa::native::data

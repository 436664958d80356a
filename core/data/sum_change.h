// The change of checksums by one change of stored bytes (live_sums.h).
#pragma once

#include <span>
#include <vector>

#include "core/data/live_sums.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// A run of bytes of a blob that is about to be written.
struct SumRange {
  std::uint64_t file_offset = 0;
  BlobId blob = kNoBlob;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  LiveSums::Origin origin;
};

// Blocks of one row that no other thread may write while this lives.
class HeldBlocks {
 public:
  HeldBlocks(LiveRowRef row, std::uint64_t blocks) : row_(std::move(row)), blocks_(blocks) {}
  HeldBlocks(HeldBlocks&& other) noexcept
      : row_(std::move(other.row_)), blocks_(other.blocks_), held_(std::exchange(other.held_, false)) {}
  HeldBlocks& operator=(HeldBlocks&&) = delete;
  ~HeldBlocks() { release(); }
  void add(std::uint64_t blocks) { blocks_ |= blocks; }
  // Several rows: in ascending order of blob and number. kTimeout: others were in the blocks until the deadline.
  Status hold(const Deadline& by);
  void release();
  LiveRow& row() const { return *row_; }
  const LiveRowRef& ref() const { return row_; }
  std::uint64_t blocks() const { return blocks_; }

 private:
  LiveRowRef row_;
  std::uint64_t blocks_;
  bool held_ = false;
};

// Reads the covered bytes of a held block whose sum is known, and compares. kCorrupt: they differ.
Result<std::vector<std::byte>> read_verified(const VolumeView& volume, LiveRow& row, std::size_t block);

// For a held block without a sum in memory, compares its first bytes with the stored sum, if any. kCorrupt: they
// differ.
Status verify_stored_part(const VolumeView& volume, LiveRow& row, std::size_t block);

class SumChange {
 public:
  SumChange(VolumeContext& volume, FileId file, const Deadline& by) : volume_(volume), file_(file), by_(by) {}
  ~SumChange();
  SumChange(const SumChange&) = delete;
  SumChange& operator=(const SumChange&) = delete;

  // `data` goes to the ranges in order. Waits for others in the same blocks, and for the store when it has sums of what
  // changes, until the deadline: kTimeout. Sums the bytes. kCorrupt: a block that is overwritten in part is damaged
  // already, which is remembered; nothing was changed.
  Status begin(std::span<const SumRange> ranges, ConstBuffers data);
  // From now on bytes may change: if nothing is published, their sums become unknown.
  void changing() { changing_ = true; }
  // The bytes are written, not visible yet: sums blocks without a sum.
  Status written();
  // With the file's node locked exclusively: these are the sums from now on. `write`: the number of this write.
  void publish(Writing& writing, std::uint64_t write);

 private:
  struct Part {
    std::size_t held;  // in held_
    std::size_t block;
    std::uint32_t from, to;     // in the block
    std::uint64_t file_offset;  // of the block
    std::uint32_t sum = 0;
    std::uint32_t length = 0;
    bool overwrites = false;
    bool unknown = false;
  };
  Status hold(std::span<const SumRange> ranges);
  Status verify_partial();
  Status sum(ConstBuffers data);
  Result<std::uint32_t> sum_of(const Part& part, std::span<const std::span<const std::byte>> pieces);
  Status take_from_store();

  VolumeContext& volume_;
  const FileId file_;
  const Deadline by_;
  std::vector<HeldBlocks> held_;
  std::vector<std::uint64_t> content_ends_;  // of each
  std::vector<std::size_t> order_;           // of held_, as they are locked
  std::vector<Part> parts_;
  bool several_ranges_ = false;
  bool changing_ = false;
  bool published_ = false;
};

}  // namespace stoa::core

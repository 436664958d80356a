// Reads of open files: from what was read ahead under a lease, with buffered bytes over it, else from the server.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "frontends/native/cache/held_lease.h"
#include "frontends/native/data/file_table.h"
#include "frontends/native/data/workers.h"

namespace stoa::native::data {

// Thread-safe.
class ReadAhead {
 public:
  using File = std::shared_ptr<BufferedFile>;
  static constexpr std::uint64_t kSmallFile = 1024 * 1024;  // is read whole

  ReadAhead(Storage& below, LeaseCovers& covers, std::uint64_t bytes_most)
      : below_(below), covers_(covers), bytes_most_(bytes_most) {}
  ~ReadAhead();

  // Through an open that may read.
  Result<std::size_t> read(const Asker& asker, const std::shared_ptr<OpenFile>& open, std::uint64_t offset,
                           std::span<std::byte> into);
  // By permission, or through an open of which nothing is known. `file`: null, nothing of it is buffered.
  Result<std::size_t> read_below(const Asker& asker, const File& file, core::FileId id, OpenNumber open,
                                 std::uint64_t offset, std::span<std::byte> into);

 private:
  using BlockRef = std::shared_ptr<Block>;
  struct Step {
    bool done = false;      // `bytes` are there; less than asked for: the file ends
    std::size_t bytes = 0;  // done, or how many have to be read from the server
    BlockRef awaited{};     // being read: then again
    bool ends = false;
  };
  Step step(const std::shared_ptr<OpenFile>& open, std::uint64_t offset, std::span<std::byte> into, bool whole,
            std::vector<BlockRef>& begun);
  Result<std::size_t> read_slices(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                  std::span<std::byte> into);
  void plan(const std::shared_ptr<OpenFile>& open, std::uint64_t offset, std::uint64_t length);
  void fetch(const Asker& asker, const std::shared_ptr<OpenFile>& open, const BlockRef& block);
  Asker fetcher(const OpenFile& open) const;
  void keep_within_budget();
  Status wait_for_block(const Asker& asker, const File& file, const BlockRef& block);

  Storage& below_;
  LeaseCovers& covers_;
  const std::uint64_t bytes_most_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> bytes_{0};  // of all blocks; each gives its own back
  std::mutex mutex_;
  std::deque<std::pair<std::weak_ptr<BufferedFile>, std::weak_ptr<Block>>> oldest_;  // guarded by mutex_
  Workers fetchers_{8, 64};
};

}  // namespace stoa::native::data

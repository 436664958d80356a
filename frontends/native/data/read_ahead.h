// Reads of open files: from what was read ahead under a lease, with buffered bytes over it, else from the server.
#pragma once

#include <atomic>

#include "frontends/native/cache/held_lease.h"
#include "frontends/native/data/block_budget.h"
#include "frontends/native/data/file_table.h"
#include "frontends/native/data/small_files_ahead.h"
#include "frontends/native/data/workers.h"

namespace stoa::native::data {

// Thread-safe.
class ReadAhead {
 public:
  using File = std::shared_ptr<BufferedFile>;
  static constexpr std::uint64_t kSmallFile = 1024 * 1024;  // is read whole

  // All outlive it.
  ReadAhead(Storage& below, LeaseCovers& covers, FileTable& files, BlockBudget& budget)
      : below_(below),
        covers_(covers),
        budget_(budget),
        small_files_(below, covers, files, budget_, fetchers_, stopping_) {}
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
    bool was_ahead = false;  // before any program had asked for the file
  };
  // How a program begins to read a file.
  struct Beginning {
    bool is = false;  // it does, with this read
    HeldLease lease{};
    bool was_ahead = false;
  };
  Result<std::size_t> read_blocks(const Asker& asker, const std::shared_ptr<OpenFile>& open, std::uint64_t offset,
                                  std::span<std::byte> into, Beginning& beginning);
  Step step(const std::shared_ptr<OpenFile>& open, std::uint64_t offset, std::span<std::byte> into, bool whole,
            std::vector<BlockRef>& begun, Beginning& beginning);
  Result<std::size_t> read_slices(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                  std::span<std::byte> into);
  void plan(const std::shared_ptr<OpenFile>& open, std::uint64_t offset, std::uint64_t length);
  void fetch(const Asker& asker, const std::shared_ptr<OpenFile>& open, const BlockRef& block);
  Result<StorageBytes> read_whole(const Asker& asker, const OpenFile& open, const Block& block);
  Asker fetcher(const OpenFile& open) const;
  Status wait_for_block(const Asker& asker, const File& file, const BlockRef& block);

  Storage& below_;
  LeaseCovers& covers_;
  BlockBudget& budget_;
  std::atomic<bool> stopping_{false};
  Workers fetchers_{8, 64};
  SmallFilesAhead small_files_;
};

}  // namespace stoa::native::data

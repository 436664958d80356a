// Small files of a directory are read ahead together, when programs read one after the other: in the order of the
// listing, many in one message.
//
// - Only what a files lease covers, with sizes that are known from the listing, and for the user whose reads made it
//   worth while: the server decides for each file. Whoever opens a file later is served what was read, if the open may
//   read, as with everything that is kept under the lease.
// - What is read is a block of its file (read_blocks.h) from before the message leaves, so that recalls, writes and
//   changes of this client end it as they end other blocks.
// - It takes half of the memory for blocks at most, and nothing that waits for its reader goes for it.
// - A file that fails is left out: who opens it gets the error.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "frontends/native/cache/held_lease.h"
#include "frontends/native/data/block_budget.h"
#include "frontends/native/data/directory_reads.h"
#include "frontends/native/data/file_table.h"
#include "frontends/native/data/workers.h"

namespace stoa::native::data {

// Thread-safe. Nothing here waits, but for the threads of `workers`, which do the reading.
class SmallFilesAhead {
 public:
  static constexpr std::size_t kFilesMost = 64;         // of one message
  static constexpr std::uint32_t kMessagesMost = 4;     // under way
  static constexpr std::size_t kDirectoriesMost = 256;  // that are watched

  // All outlive it. `stopping`: messages are given up.
  SmallFilesAhead(Storage& below, LeaseCovers& covers, FileTable& files, BlockBudget& budget, Workers& workers,
                  const std::atomic<bool>& stopping)
      : below_(below), covers_(covers), files_(files), budget_(budget), workers_(workers), stopping_(stopping) {}

  // A program has begun to read an open file from its start, under this lease; `was_ahead`: what it got had been read
  // ahead. Called without a file's mutex or a pin.
  void seen(const OpenFile& open, const HeldLease& lease, bool was_ahead);

 private:
  struct Directory {
    core::FileId id = core::kNoFile;
    std::uint64_t lease = 0;
    std::shared_ptr<DirectoryReads> reads = std::make_shared<DirectoryReads>();
    // Of the thread that is at work on it.
    std::uint64_t after = 0;  // ListedWish::after
    std::uint32_t laps = 0;   // how often the end of the listing was reached
    bool placed = false;
  };
  using DirectoryRef = std::shared_ptr<Directory>;
  struct Begun {
    std::shared_ptr<BufferedFile> file;
    std::shared_ptr<Block> block;
  };

  DirectoryRef watched(const HeldLease& lease);
  void read_pieces(Directory& directory, const core::Credentials& cred, core::FileId last);
  std::vector<Begun> begin_piece(Directory& directory, const core::Credentials& cred, core::FileId last);
  bool place(Directory& directory, core::FileId last, bool small);
  std::optional<Begun> begin(const Directory& directory, const ListedFile& listed);
  void fetch(const core::Credentials& cred, const std::vector<Begun>& piece);

  Storage& below_;
  LeaseCovers& covers_;
  FileTable& files_;
  BlockBudget& budget_;
  Workers& workers_;
  const std::atomic<bool>& stopping_;
  std::atomic<std::uint32_t> at_work_{0};
  std::mutex mutex_;
  std::unordered_map<core::FileId, DirectoryRef> directories_;  // guarded by mutex_
};

}  // namespace stoa::native::data

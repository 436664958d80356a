// Checksums of blocks that are being written: exact in memory after every write, and ahead of the store (block_sums.h).
//
//   write:  claim the blocks; verify what is overwritten in part; take stored sums of what is overwritten out of the
//           store, durably; sum the bytes that are written, from memory; write them; publish the new
//           sums.
//   flush:  when the bytes are synced, their sums go into the transaction that commits the file's record.
//
// A row that is overwritten again and again stays out of the store until it is left alone (kQuietRowNs): else each
// write would cost a sync.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/api/ids.h"
#include "core/data/block_sums.h"
#include "core/inode/writing.h"

namespace stoa::core {

class RecordChanges;
struct VolumeContext;

inline constexpr std::size_t kLiveRowsMax = 16'384;  // about 15 MiB; beyond, writers store their own at once
inline constexpr std::int64_t kQuietRowNs =
    5'000'000'000;                             // without a write, before a row that was written often is stored
inline constexpr unsigned kRowsAheadMax = 16;  // that leave the store with one sync when a file is overwritten in order

struct LiveRow {
  LiveRow(BlobId its_blob, std::uint64_t its_number) : blob(its_blob), number(its_number) {}
  const BlobId blob;
  const std::uint64_t number;
  std::uint64_t begin() const { return number * kSumRowBytes; }

  std::mutex mutex;                 // guards the members below; held over no disk access but reads of the metadata
                                    // store
  std::condition_variable changed;  // a block is no longer busy, or the row no longer staged
  bool loaded = false;
  bool gone = false;  // the blob is: nothing may be stored of it

  // The first `lengths` bytes of each block are covered; behind them it is zeros. A block belongs to the writer that
  // made it busy.
  std::array<std::uint32_t, kSumRowBlocks> sums{};
  std::array<std::uint32_t, kSumRowBlocks> lengths{};
  std::array<std::uint32_t, kSumRowBlocks> last_write{};  // low bits of Node::writes; of unsynced blocks
  // One bit a block each.
  std::uint64_t known = ~std::uint64_t{0};  // the sums of other blocks are unknown
  std::uint64_t trusted = 0;                // compared, or written as a whole, since the row was loaded
  std::uint64_t stored = 0;                 // the store has a sum, of the bytes that were covered then
  std::uint64_t busy = 0;                   // being written, or held still for a comparison
  std::uint64_t overwriting = 0;            // busy, and covered bytes change
  std::uint64_t unsynced = 0;               // written since the last sync

  bool staged = false;  // part of a transaction that is about to be committed: no other thread changes the stored row
  bool hot = false;     // overwritten again and again
  bool waits_for_quiet = false;
  CommitTicket dropped{};  // the sums removed from the store are gone for good when this is durable
  std::int64_t dropped_at = 0;
  std::int64_t touched_at = 0;
  unsigned run = 0;  // rows that left the store together with this one, because the file is overwritten in order

  // The blocks whose sums may be stored once `synced` are synced, beside those that were before.
  std::uint64_t storable(std::uint64_t synced) const;
  // The record with the sums of `blocks`, which are storable. Where covered bytes follow, zeros become covered.
  SumRow record(std::uint64_t blocks);
};
using LiveRowRef = std::shared_ptr<LiveRow>;

class LiveSums {
 public:
  // The content of a blob that the store has no record of: content up to `content_end`; `fresh`: all its rows are in
  // memory only.
  struct Origin {
    bool fresh = false;
    std::uint64_t content_end = 0;
  };
  Result<LiveRowRef> find(KvReader& kv, BlobId blob, std::uint64_t number, const Origin& origin);
  LiveRowRef peek(BlobId blob, std::uint64_t number);
  // The blob is freed: nothing of it is stored from now on.
  void forget(BlobId blob, std::uint64_t capacity);
  void forget_row(BlobId blob, std::uint64_t number);
  // Over the limit of rows: writers then store all that can be stored.
  bool crowded() const { return size_.load(std::memory_order_relaxed) > kLiveRowsMax; }

  // With the row locked.
  void wait_for_quiet(const LiveRowRef& row);
  std::vector<LiveRowRef> take_waiting();

 private:
  static constexpr std::size_t kShards = 64;
  struct Key {
    BlobId blob;
    std::uint64_t number;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (static_cast<std::uint64_t>(key.blob) + key.number * 0xD6E8FEB86659FD93ULL) * 0x9E3779B97F4A7C15ULL;
    }
  };
  struct Shard {
    std::mutex mutex;  // guards the rest
    std::unordered_map<Key, LiveRowRef, Hash> rows;
    std::vector<Key> ring;  // in order of arrival; keys that are no longer in `rows` are dropped when met
    std::size_t hand = 0;
  };
  Shard& shard_of(const Key& key) { return shards_[Hash{}(key) >> 58]; }
  void evict_some(Shard& shard);

  std::array<Shard, kShards> shards_;
  std::atomic<std::size_t> size_{0};
  std::mutex waiting_mutex_;  // guards waiting_; after a row's
  std::vector<LiveRowRef> waiting_;
};

// Rows of one file on their way into the store with a transaction. The file's node stays locked from stage() until this
// is destroyed.
class StagedSums {
 public:
  explicit StagedSums(VolumeContext& volume) : volume_(volume) {}
  ~StagedSums();
  StagedSums(const StagedSums&) = delete;
  StagedSums& operator=(const StagedSums&) = delete;
  // Writes up to number `synced` are on disk. Rows of blobs that `layout` does not name wait.
  void stage(RecordChanges& changes, Writing& writing, const Layout& layout, std::uint64_t synced);
  void committed(CommitTicket ticket);

 private:
  struct Item {
    LiveRowRef row;
    std::uint64_t synced;
    std::uint64_t stored;
  };
  VolumeContext& volume_;
  std::vector<Item> items_;
};

// With the row locked and not staged: these blocks leave the store, for good when the ticket is durable. `file`: the
// file of the bytes. kTimeout: the queue was full until `by`, and nothing was changed.
Result<CommitTicket> take_sums_from_store(VolumeContext& volume, FileId file, const LiveRowRef& row,
                                          std::uint64_t blocks, const Deadline& by);

// With the row locked and not staged: stores the sums that may be stored. Applied, not durable.
Status store_sums(VolumeContext& volume, LiveRow& row);
// Stores rows that were left alone long enough; `all`: every synced row. Applied, not durable.
Status store_quiet_sums(VolumeContext& volume, bool all);

std::int64_t sum_clock_ns(const VolumeContext& volume);

}  // namespace stoa::core

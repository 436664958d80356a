// Cache of large writes, which bypass the page cache, in the memory that they came in. A read right after the write
// need not wait for the disk. Bounded: the oldest give way.
//
// Nothing here has to reach the disk any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/metrics.h"
#include "core/blob/blob_store.h"

namespace stoa::blob_local {

class WrittenCache {
 public:
  // `bytes_max`: limit of the memory held; 0: nothing is ever kept.
  WrittenCache(std::uint64_t bytes_max, MetricRegistry& metrics);
  ~WrittenCache();
  WrittenCache(const WrittenCache&) = delete;
  WrittenCache& operator=(const WrittenCache&) = delete;

  // A change of a range of a blob; lives from before its first byte until after its last. Cached bytes of the range are
  // gone from the start: a concurrent reader reads the disk.
  class Change {
   public:
    Change(WrittenCache& cache, core::BlobId blob, std::uint64_t offset, std::uint64_t length);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    // It is done, and these are the bytes of the whole range. If another change overlapped meanwhile, nothing is kept:
    // it is unknown which came last.
    void keep(std::span<const std::byte> bytes, const core::LentMemory& memory);

   private:
    friend class WrittenCache;
    WrittenCache& cache_;
    const core::BlobId blob_;
    const std::uint64_t from_, to_;
    bool crossed_ = false;  // guarded by the cache's mutex
  };

  // Memory that makes up the whole range; none when not all of it is here.
  std::vector<core::DataSlice> find(core::BlobId blob, std::uint64_t offset, std::uint64_t length);

 private:
  struct Key {
    core::BlobId blob;
    std::uint64_t offset;
    auto operator<=>(const Key&) const = default;
  };
  struct Range {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> memory;
  };
  struct Held {
    core::LentMemory memory;
    Key range;  // of it, unless that is gone
  };
  using Ranges = std::map<Key, Range>;

  // With mutex_ held. The first range that ends behind this place, if any of the blob does.
  Ranges::iterator first_behind(core::BlobId blob, std::uint64_t offset);

  const std::uint64_t bytes_max_;
  Gauge& held_gauge_;
  Counter& given_;
  std::atomic<std::size_t> size_{0};  // of ranges_: without any, a read asks no more than this
  std::mutex mutex_;                  // guards all below
  Ranges ranges_;                     // none overlaps another
  // The oldest first. Memory of ranges that are gone stays until it is the oldest: it is used again and again that way,
  // and fresh memory costs more than a copy.
  std::deque<Held> held_;
  std::uint64_t held_bytes_ = 0;
  std::vector<Change*> changes_;
};

}  // namespace stoa::blob_local

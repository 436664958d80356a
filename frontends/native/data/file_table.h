// The files that are buffered, and the open files.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "frontends/native/data/buffered_file.h"

namespace stoa::native::data {

// Thread-safe. Files of which nothing is buffered leave it when there are many.
class FileTable {
 public:
  using Files = std::vector<std::shared_ptr<BufferedFile>>;
  std::shared_ptr<BufferedFile> find(core::FileId id) const;  // null: there is none
  std::shared_ptr<BufferedFile> get(core::FileId id);         // makes it
  // Those with something under a lease: one file, or all when it is kNoFile.
  Files under(std::uint64_t lease, core::FileId id) const;
  Files all() const;

  void add(const std::shared_ptr<OpenFile>& open);
  std::shared_ptr<OpenFile> open(OpenNumber number) const;  // null: there is none
  std::shared_ptr<OpenFile> remove(OpenNumber number);
  std::vector<std::shared_ptr<OpenFile>> opens() const;

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kSweepFrom = 1024;  // files of one shard
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<core::FileId, std::shared_ptr<BufferedFile>> files;
    std::size_t sweep_at = kSweepFrom;
  };
  Shard& shard(core::FileId id) { return shards_[static_cast<std::uint64_t>(id) % kShards]; }
  const Shard& shard(core::FileId id) const { return shards_[static_cast<std::uint64_t>(id) % kShards]; }
  static void sweep(Shard& shard);

  std::array<Shard, kShards> shards_;
  std::atomic<bool> any_{false};  // was there ever a file
  mutable std::shared_mutex opens_mutex_;
  std::unordered_map<OpenNumber, std::shared_ptr<OpenFile>> opens_;  // guarded by opens_mutex_
};

}  // namespace stoa::native::data

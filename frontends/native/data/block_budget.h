// The memory of all blocks that were read ahead.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "frontends/native/data/buffered_file.h"

namespace stoa::native::data {

// Thread-safe. Takes the mutexes of files, so it is called without one.
class BlockBudget {
 public:
  explicit BlockBudget(std::uint64_t bytes_most) : bytes_most_(bytes_most) {}

  std::uint64_t bytes_most() const { return bytes_most_; }
  std::atomic<std::uint64_t>& bytes() { return bytes_; }  // of all blocks; each gives its own back
  // Whether so much more may be read ahead with no more than `most` in all. Blocks that were read, or that nobody has
  // wanted for a while, go for it; those that wait for their reader stay.
  bool make_room(std::uint64_t bytes, std::uint64_t most);
  bool make_room(std::uint64_t bytes) { return make_room(bytes, bytes_most_); }
  // The block has its bytes. When there is too much, the oldest go, whatever they are.
  void arrived(const std::shared_ptr<BufferedFile>& file, const std::shared_ptr<Block>& block);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kWanted{10};
  static constexpr std::size_t kBlocksMost = 65536;
  struct Arrived {
    std::weak_ptr<BufferedFile> file;
    std::weak_ptr<Block> block;
    Clock::time_point at;
  };
  // Takes the oldest out when `goes` says so.
  template <class Goes>
  bool drop_oldest(const Goes& goes);

  const std::uint64_t bytes_most_;
  std::atomic<std::uint64_t> bytes_{0};
  std::mutex mutex_;
  std::deque<Arrived> oldest_;  // guarded by mutex_
};

}  // namespace stoa::native::data

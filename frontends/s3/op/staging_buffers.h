// Reused buffers in which a large body gathers before it goes to the store: the first touch of fresh memory costs more
// than a copy into used memory.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace stoa::s3 {

inline constexpr std::size_t kStagingBytes = 1 << 20;

class StagingBuffers {
 public:
  using Buffer = std::unique_ptr<std::byte[]>;
  Buffer take();
  void give_back(Buffer buffer);

 private:
  static constexpr std::size_t kKeptMax = 32;
  std::mutex mutex_;  // guards kept_
  std::vector<Buffer> kept_;
};

}  // namespace stoa::s3

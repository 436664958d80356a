// Pins of blobs that are being read or written, or that a front end holds as slices. Garbage collection skips them,
// so that a removed file's slot does not serve another file while a reader still uses it.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/inode/layout.h"

namespace stoa::core {

class BlobPins {
 public:
  // Holds its blobs until it goes. Taken under the file's lock, while the file still exists. Must not outlive the
  // volume.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept : pins_(std::exchange(other.pins_, nullptr)), blobs_(std::move(other.blobs_)) {}
    Hold& operator=(Hold&& other) noexcept {
      if (this != &other) {
        release();
        pins_ = std::exchange(other.pins_, nullptr);
        blobs_ = std::move(other.blobs_);
      }
      return *this;
    }
    ~Hold() { release(); }

   private:
    friend class BlobPins;
    void release();
    std::shared_ptr<BlobPins> pins_;
    std::vector<BlobId> blobs_;
  };

  static Hold hold(const std::shared_ptr<BlobPins>& pins, std::span<const Piece> pieces);
  static Hold hold(const std::shared_ptr<BlobPins>& pins, std::span<const BlobId> blobs);
  bool pinned(BlobId blob) const;

 private:
  static constexpr std::size_t kShards = 64;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::unordered_map<BlobId, std::uint32_t> counts;
  };
  static std::size_t shard_of(BlobId blob) { return (static_cast<std::uint64_t>(blob) * 0x9E3779B97F4A7C15ULL) >> 58; }
  void add(BlobId blob);
  void remove(BlobId blob);
  std::array<Shard, kShards> shards_;
};

}  // namespace stoa::core

// In-memory state of the data path of one volume. All of it is bounded by the operations in progress.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "core/data/blob_pins.h"
#include "core/data/content_cache.h"
#include "core/data/live_sums.h"
#include "core/data/verified_table.h"
#include "core/inode/node.h"

namespace stoa::core {

struct Upload;

inline constexpr std::size_t kLazyFilesMax = 20'000;  // files with uncommitted writes; beyond, writers flush their own
inline constexpr std::uint64_t kInlineCacheBytes = 56u << 20;
inline constexpr std::uint64_t kMetaCacheBytes = 8u << 20;
inline constexpr std::size_t kDamageMax = 1000;  // damaged ranges recorded

class DataState {
 public:
  explicit DataState(MetricRegistry& metrics);
  ~DataState();

  const std::shared_ptr<BlobPins> pins = std::make_shared<BlobPins>();
  VerifiedTable verified;
  LiveSums sums;
  ContentCache inlines{kInlineCacheBytes};  // as read_inline() gives them
  ContentCache metas{kMetaCacheBytes};      // as the store has them

  // Uploads in progress.
  std::mutex uploads_mutex;  // guards the two below
  std::unordered_map<UploadId, std::shared_ptr<Upload>> uploads;
  std::uint64_t next_upload = 1;

  // Files with writes that are not committed, for the periodic flush.
  std::mutex lazy_mutex;  // guards lazy
  std::vector<NodeRef> lazy;

  struct Damage {
    FileId id;
    std::uint64_t offset;
    std::uint64_t length;
    auto operator<=>(const Damage&) const = default;
  };
  // Found by a read or by the scrub. True when it is new.
  bool add_damage(const Damage& damage);
  std::vector<Damage> damage() const;
  // The damage found since the last call.
  std::vector<Damage> take_new_damage();

  // The blob store knows which blobs are in use (core/data/adoption.h).
  std::atomic<bool> adopted{false};

  Counter& verified_bytes;
  Counter& damaged_blocks;
  Counter& recorded_files;
  Counter& released_blobs;

 private:
  mutable std::mutex damage_mutex_;  // guards the two below
  std::vector<Damage> damage_;
  std::size_t damage_told_ = 0;
};

}  // namespace stoa::core

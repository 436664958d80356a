// Who holds state: whether a holder still exists, how much it holds, and how it is told to return a lease.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/api/state.h"

namespace stoa::core {

class Holders {
 public:
  using Recall = std::function<void(LeaseId, FileId)>;
  static constexpr std::size_t kHoldersMax = 65536;

  Holders() = default;
  ~Holders();
  Holders(const Holders&) = delete;
  Holders& operator=(const Holders&) = delete;

  HolderId add(Recall recall);  // kNoHolder: too many
  bool alive(HolderId holder) const;
  // From now on it is not alive; what it holds is to be taken away before remove(). False: it was not.
  bool retire(HolderId holder);
  // Waits for a recall that runs.
  void remove(HolderId holder);

  void count(HolderId holder, std::int64_t delta) { slot(holder).held.fetch_add(delta, std::memory_order_relaxed); }
  std::int64_t held(HolderId holder) const;
  // With no lock held.
  void recall(HolderId holder, LeaseId lease, FileId file);
  std::size_t size() const;

 private:
  struct Slot {
    std::atomic<std::uint64_t> id{0};  // of the holder that lives here
    std::atomic<std::int64_t> held{0};
    std::mutex calling;  // guards recall, also while it runs
    Recall recall;
  };
  static constexpr std::size_t kSlotsAtOnce = 256;
  static constexpr unsigned kSlotBits = 16;  // of a HolderId; above them it counts who had the slot before
  using Chunk = std::array<Slot, kSlotsAtOnce>;

  Slot& slot(HolderId holder) const {
    const std::size_t at = static_cast<std::uint64_t>(holder) % kHoldersMax;
    return (*chunks_[at / kSlotsAtOnce].load(std::memory_order_acquire))[at % kSlotsAtOnce];
  }
  bool known(HolderId holder) const {
    const std::size_t at = static_cast<std::uint64_t>(holder) % kHoldersMax;
    return chunks_[at / kSlotsAtOnce].load(std::memory_order_acquire) != nullptr;
  }

  std::array<std::atomic<Chunk*>, kHoldersMax / kSlotsAtOnce> chunks_{};
  mutable std::mutex mutex_;  // guards what follows, and the making of chunks
  std::vector<std::size_t> free_;
  std::size_t used_ = 0;  // slots ever given out
  std::uint64_t generation_ = 0;
};

}  // namespace stoa::core

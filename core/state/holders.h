// The holders of opens, locks and leases: whether one still exists, how much it holds, and the receiver of its
// events.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/state.h"

namespace stoa::core {

class Holders {
 public:
  static constexpr std::size_t kHoldersMax = 65536;

  Holders() = default;
  ~Holders();
  Holders(const Holders&) = delete;
  Holders& operator=(const Holders&) = delete;

  // Of one holder, or of all holders of one peer.
  struct Tally {
    std::atomic<std::int64_t> opens{0}, locks{0}, leases{0};
  };

  // Those of one `peer` share a tally; empty: it is alone. kNoHolder: too many.
  HolderId add(HolderEvents* events, std::string_view peer, const LeaseTerms& terms);
  bool alive(HolderId holder) const;
  // Marks the holder as not alive; its state must be removed before remove(). False: it was not alive.
  bool retire(HolderId holder);
  // Waits for an event that is being handled.
  void remove(HolderId holder);
  void mute(const HolderEvents& events);

  void count(HolderId holder, std::int64_t delta) { slot(holder).held.fetch_add(delta, std::memory_order_relaxed); }
  std::int64_t held(HolderId holder) const;
  // From add() to remove().
  const LeaseTerms& terms(HolderId holder) const { return slot(holder).terms; }
  Tally& own(HolderId holder) const { return slot(holder).own; }
  Tally& of_peer(HolderId holder) const { return slot(holder).peer->tally; }
  // With no lock held.
  template <class Event>
  void tell(HolderId holder, Event event) {
    if (!alive(holder)) return;
    Slot& mine = slot(holder);
    const std::lock_guard calling(mine.calling);
    if (alive(holder) && mine.events != nullptr) event(*mine.events);
  }
  std::size_t size() const;

 private:
  struct Peer {
    const std::string name;
    Tally tally{};
  };
  struct Slot {
    std::atomic<std::uint64_t> id{0};  // of the holder in this slot
    std::atomic<std::int64_t> held{0};
    Tally own;
    LeaseTerms terms;
    std::shared_ptr<Peer> peer;
    std::mutex calling;  // guards the members below, also during the handling of an event
    HolderEvents* events = nullptr;
  };
  static constexpr std::size_t kSlotsAtOnce = 256;
  static constexpr unsigned kSlotBits = 16;  // of a HolderId; the bits above count the holders that had the slot
                                             // before
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
  mutable std::mutex mutex_;  // guards the members below, and the making of chunks
  std::vector<std::size_t> free_;
  std::size_t used_ = 0;                                             // slots ever given out
  std::map<std::string, std::shared_ptr<Peer>, std::less<>> peers_;  // but those without a name
  std::uint64_t generation_ = 0;
};

}  // namespace stoa::core

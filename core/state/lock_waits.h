// Who waits for byte-range locks, and for whom: the queue of each file, and the search for cycles among owners.
//
// An owner that waits is kept by every other owner that holds a lock in its way, and by those that wait before it in
// the queue of the file for something that conflicts (the order of arrival). A cycle of holders alone is a deadlock. A
// cycle over the order of arrival is none: somebody in it is let pass. Who only asks again and again may have given
// up, so he is in no deadlock, and keeps his place for a while only.
#pragma once

#include <list>
#include <unordered_map>
#include <utility>

#include "core/state/leases.h"
#include "core/state/lock_ranges.h"

namespace stoa::core {

struct LockWait {
  LockRequest wanted;
  ByteSpan span;
  const void* peer = nullptr;  // of its holder, by identity
  bool passes = false;         // does not keep to the order of arrival
  // Of who asks again and again: he is not granted anything meanwhile, but called when his turn has come.
  struct Asking {
    StateClock::time_point last;                       // when he asked
    StateClock::time_point until;                      // how long he has his place
    std::optional<HandleBytes> handle = std::nullopt;  // for one LockTurn
  };
  std::optional<Asking> asking = std::nullopt;
};

// Not thread-safe.
class LockWaits {
 public:
  static constexpr std::size_t kPerHolder = 1024;
  static constexpr std::size_t kPerPeer = 4096;  // of its holders together
  static constexpr std::size_t kPerFile = 1024;  // the order of arrival is compared pair by pair
  static constexpr std::size_t kAll = 16384;
  using Queue = std::list<LockWait>;  // in order of arrival

  std::size_t size() const { return size_; }
  const Queue* of(FileId file) const;
  Queue* of(FileId file) { return const_cast<Queue*>(std::as_const(*this).of(file)); }
  LockWait* find(const LockRequest& wanted);
  // `peer`: whoever the holder counts for beside itself. Null: too many.
  LockWait* add(const LockRequest& wanted, const ByteSpan& span, const void* peer);
  Queue::iterator remove(Queue& queue, Queue::iterator wait);  // the next one; an empty queue stays until drop()
  bool remove(const LockRequest& wanted);
  std::vector<FileId> remove(HolderId holder);  // for which files it waited
  void drop(FileId file);                       // its queue, if that is empty
  std::vector<FileId> files() const;

  // Who waits before it and is to be served first. Null: it is its turn.
  static const LockWait* whose_turn_before(const Queue& queue, const LockWait& wait);

  // The owners that hold locks in the way of a wait, as of now.
  using Holding = std::function<std::vector<LockOwner>(const LockWait&)>;
  // Whether `wait` waits for its own owner, by locks that are held alone and over nobody who may have given up.
  bool is_deadlock(LockWait& wait, const Holding& holding);
  // Lets somebody pass who is part of a cycle over the order of arrival. Null: there is no such cycle.
  LockWait* let_one_pass(LockWait& wait, const Holding& holding);

 private:
  struct OwnerHash {
    std::size_t operator()(const LockOwner& owner) const;
  };
  struct Step {  // of a search: who was come to, and over what
    LockWait* wait;
    std::size_t from;  // the step before
    bool by_order;     // it came before that one in the queue; else it holds
  };
  // Steps from `wait` back to its owner, the last one first; empty: there is no way.
  std::vector<Step> cycle(LockWait& wait, const Holding& holding, bool with_order);

  std::unordered_map<FileId, Queue> queues_;
  std::unordered_map<LockOwner, std::vector<LockWait*>, OwnerHash> by_owner_;
  std::unordered_map<HolderId, std::size_t> by_holder_;
  std::unordered_map<const void*, std::size_t> by_peer_;
  std::size_t size_ = 0;
};

}  // namespace stoa::core

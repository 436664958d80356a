// Waiters for byte-range locks: the queue of each file, and the search for cycles among owners.
//
// A waiting owner is blocked by every other owner that holds a conflicting lock. Conflicting waiters before it in the
// queue of the file block it, too (the order of arrival). A cycle of holders alone is a deadlock. A cycle over the
// order of arrival is none: one waiter in it is let pass. Polling clients may have given up, so deadlock detection
// ignores them, and their places expire.
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
  // State of a polling waiter: it is not granted the lock meanwhile, but called when its turn has come.
  struct Asking {
    StateClock::time_point last;                       // time of the last request
    StateClock::time_point until;                      // expiry of its place
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
  // `peer`: the peer that the holder's waits count for, beside the holder. Null: too many.
  LockWait* add(const LockRequest& wanted, const ByteSpan& span, const void* peer);
  Queue::iterator remove(Queue& queue, Queue::iterator wait);  // the next one; an empty queue stays until drop()
  bool remove(const LockRequest& wanted);
  std::vector<FileId> remove(HolderId holder);  // for which files it waited
  void drop(FileId file);                       // its queue, if that is empty
  std::vector<FileId> files() const;

  // The waiter to be served before it. Null: it is its turn.
  static const LockWait* whose_turn_before(const Queue& queue, const LockWait& wait);

  // The present owners of locks that conflict with a wait.
  using Holding = std::function<std::vector<LockOwner>(const LockWait&)>;
  // Whether `wait` is part of a deadlock: a cycle of held locks alone, without polling waiters.
  bool is_deadlock(LockWait& wait, const Holding& holding);
  // Lets one waiter pass that is part of a cycle over the order of arrival. Null: there is no such cycle.
  LockWait* let_one_pass(LockWait& wait, const Holding& holding);

 private:
  struct OwnerHash {
    std::size_t operator()(const LockOwner& owner) const;
  };
  struct Step {  // of a search: the owner reached, and the edge it was reached by
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

// The reach of a file, that is the exported directory above it, cached in the file's node. Walking up its
// directories for each request would cost more than some requests.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/api/ids.h"

namespace stoa::core {

// Thread-safe; takes no lock.
class ReachMemo {
 public:
  // Whether the directory of the file was found to be `root`, or below it, and no directory has moved since
  // (NodeCache::moves()).
  bool recall(FileId root, std::uint64_t moves) const {
    const std::uint64_t turn = turn_.load(std::memory_order_acquire);
    if (turn % 2 != 0) return false;
    const bool same = root_.load(std::memory_order_acquire) == root && moves_.load(std::memory_order_acquire) == moves;
    return same && turn_.load(std::memory_order_relaxed) == turn;  // else parts of two answers
  }

  // Does nothing during a call of another thread. Never with kNoFile for a root.
  void remember(FileId root, std::uint64_t moves) {
    std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    if (turn % 2 != 0 || !turn_.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire)) return;
    // Each with release: a reader that sees one of them sees that the turn is over.
    root_.store(root, std::memory_order_release);
    moves_.store(moves, std::memory_order_release);
    turn_.store(turn + 2, std::memory_order_release);
  }

  // Only while no thread calls remember().
  void forget() { remember(kNoFile, 0); }

 private:
  std::atomic<std::uint64_t> turn_{0};  // odd during a write
  std::atomic<FileId> root_{kNoFile};
  std::atomic<std::uint64_t> moves_{0};
};

}  // namespace stoa::core

// The directory QoS classes that a request for a file pays, cached in the file's node: walking up its directories and
// looking up each costs more than some requests.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoa::qos {
class QosClass;
}

namespace stoa::core {

// All but forget() is thread-safe and takes no lock. QoS class pointers are stored, never dereferenced: a caller that
// passes a stamp knows that the QoS classes of its table are alive.
class QosMemo {
 public:
  // Longer lists are not cached: with this limit, a node's memo is one cache line.
  static constexpr std::size_t kQosClassesMax = 4;

  // The versions that the cached path depends on, beside the file's directory.
  struct Stamp {
    std::uint64_t table = 0;  // QosTable::directories_version() of one with directories
    std::uint64_t moves = 0;  // NodeCache::moves()
  };

  // Appends the QoS classes cached with this stamp. False: none were, and nothing was appended.
  bool recall(const Stamp& stamp, std::vector<qos::QosClass*>& found) const {
    const std::uint64_t turn = turn_.load(std::memory_order_acquire);
    if (turn % 2 != 0) return false;
    if (table_.load(std::memory_order_acquire) != stamp.table || moves_.load(std::memory_order_acquire) != stamp.moves)
      return false;
    std::array<qos::QosClass*, kQosClassesMax> qos_classes;
    std::size_t count = 0;
    for (; count < kQosClassesMax; ++count) {
      if ((qos_classes[count] = qos_classes_[count].load(std::memory_order_acquire)) == nullptr) break;
    }
    if (turn_.load(std::memory_order_relaxed) != turn) return false;  // parts of two answers
    found.insert(found.end(), qos_classes.begin(), qos_classes.begin() + count);
    return true;
  }

  // No more than kQosClassesMax; does nothing during a call of another thread.
  void remember(const Stamp& stamp, std::span<qos::QosClass* const> qos_classes) {
    std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    if (turn % 2 != 0 || !turn_.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire)) return;
    // Each with release: a reader that sees one of them sees that the turn is over.
    table_.store(stamp.table, std::memory_order_release);
    moves_.store(stamp.moves, std::memory_order_release);
    for (std::size_t i = 0; i < kQosClassesMax; ++i)
      qos_classes_[i].store(i < qos_classes.size() ? qos_classes[i] : nullptr, std::memory_order_release);
    turn_.store(turn + 2, std::memory_order_release);
  }

  // Only while no thread calls remember().
  void forget() { remember({}, {}); }

 private:
  std::atomic<std::uint64_t> turn_{0};   // odd during a write
  std::atomic<std::uint64_t> table_{0};  // 0, a version that no table with directories has: empty
  std::atomic<std::uint64_t> moves_{0};
  std::array<std::atomic<qos::QosClass*>, kQosClassesMax> qos_classes_{};
};

}  // namespace stoa::core

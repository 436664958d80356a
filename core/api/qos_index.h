// The QoS classes of one kind, to be found by number: an immutable hash table, of which a changed copy shares nearly
// all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/api/qos_rules.h"
#include "qos/qos_class.h"

namespace stoa::core {

struct QosEntry {
  QosRule rule{};
  std::shared_ptr<qos::QosClass> qos_class{};
};

// QoS classes found stay valid as long as the index or any copy of it. A copy costs next to nothing.
class QosIndex {
 public:
  QosIndex() = default;
  // Each target once, and all of one kind.
  explicit QosIndex(std::vector<QosEntry> entries);
  // The same index with another entry, which takes the place of its target's. Costs O(sqrt(n)), because all but the
  // shard of the target are shared.
  QosIndex with(QosEntry entry) const;
  QosIndex without(const QosTarget& target) const;

  std::size_t size() const { return size_; }
  // Null: there is none.
  const QosEntry* find(const QosTarget& target) const;
  // For kinds whose targets are numbers. On the path of every request: a missing number costs one or two cache lines.
  qos::QosClass* find(std::uint64_t id) const {
    if (size_ == 0) return nullptr;
    const std::uint64_t hash = mixed(id);
    const View& view = spine_->views[shard_of(hash)];
    if (view.slots == nullptr) return nullptr;
    std::uint64_t at = hash & view.mask;
    while (view.slots[at].qos_class != nullptr && view.slots[at].key != id) at = (at + 1) & view.mask;
    return view.slots[at].qos_class;
  }
  // By target.
  void append_to(std::vector<const QosEntry*>& all) const;

 private:
  // With 100 000 QoS classes a change copies as many pointers to shards as a shard has entries, about.
  static constexpr unsigned kShardBits = 9;

  // Free where `qos_class` is null. The key of a network is a hash, so a caller that finds one must compare the target.
  struct Slot {
    std::uint64_t key = 0;
    qos::QosClass* qos_class = nullptr;
  };
  struct Shard {
    explicit Shard(std::vector<QosEntry> all);
    std::vector<QosEntry> entries;
    std::vector<Slot> slots;  // a power of two, at most half of them taken; an entry lies at its hash or behind it
    std::vector<std::uint32_t> places;  // of each slot's entry
  };
  // The members of a shard that a look-up reads.
  struct View {
    const Slot* slots = nullptr;
    std::uint64_t mask = 0;
  };
  struct Spine {
    std::array<View, std::size_t{1} << kShardBits> views{};
    std::array<std::shared_ptr<const Shard>, std::size_t{1} << kShardBits> shards{};
    void put(std::size_t at, std::vector<QosEntry> entries);
  };

  // MurmurHash3's finalizer: neighbours in number are none in the table.
  static std::uint64_t mixed(std::uint64_t key) {
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdU;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53U;
    return key ^ (key >> 33);
  }
  static std::size_t shard_of(std::uint64_t hash) { return hash >> (64 - kShardBits); }
  static std::uint64_t key_of(const QosTarget& target);
  QosIndex with_shard(std::size_t at, std::vector<QosEntry> entries, std::size_t size) const;

  std::shared_ptr<const Spine> spine_;  // null: there are none
  std::size_t size_ = 0;
};

}  // namespace stoa::core

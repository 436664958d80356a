// The changes that are queued and not in the store yet, by key. A hash table whose elements lie in the queued units, so
// that a change costs no allocation of its own. It has the newest value of each key only. A second chain through the
// elements finds the queued changes of one file or directory, for scans.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kv/kv_store.h"

namespace stoa::core {

class QueuedChanges {
  struct Change;

 public:
  // The changes of one batch. The batch may be moved, but must stay as it is and live until remove().
  class Part {
   public:
    explicit Part(const WriteBatch& batch);
    std::size_t bytes() const { return size_ * sizeof(Change); }
    // Whether a unit up to `newest` changes the same key as operation `index` of the batch, after it.
    bool is_superseded(std::size_t index, std::uint64_t newest) const {
      const std::uint64_t by = changes_[index].superseded_by.load(std::memory_order_relaxed);
      return by != 0 && by <= newest;
    }
    std::size_t size() const { return size_; }

   private:
    friend class QueuedChanges;
    std::unique_ptr<Change[]> changes_;
    std::size_t size_;
  };

  QueuedChanges();

  // One caller at a time, `unit` grows from call to call. From now on all that read see the changes.
  void add(Part& part, std::uint64_t unit);
  // The store has them.
  void remove(Part& part);

  enum class Found : std::uint8_t { kNothing, kValue, kRemoved };
  // `value` is set with kValue only. Without anything queued of the key's hash it takes no lock.
  Found find(Family family, std::string_view key, std::string* value) const;

  struct KeyChange {
    std::string key;
    std::optional<std::string> value;  // absent: removed
  };
  struct Range {
    std::vector<KeyChange> changes;  // by key
    std::uint64_t newest = 0;        // unit that was added
  };
  // All keys from `lower` up to `upper` (empty: to the end).
  Range between(Family family, std::string_view lower, std::string_view upper) const;

 private:
  struct Change {
    const char* bytes;  // key, then value
    std::uint32_t key_size, value_size;
    std::uint32_t key_slot, walk_slot;
    Family family;
    bool remove;
    bool linked = false;  // false, too, once it is superseded
    std::atomic<std::uint64_t> superseded_by{0};
    Change* next = nullptr;  // of the same key_slot
    Change* previous = nullptr;
    Change* walk_next = nullptr;  // of the same walk_slot
    Change* walk_previous = nullptr;

    std::string_view key() const { return {bytes, key_size}; }
    std::string_view value() const { return {bytes + key_size, value_size}; }
    bool is_of(Family other, std::string_view other_key) const { return family == other && key() == other_key; }
  };
  using Head = std::atomic<Change*>;
  static constexpr std::size_t kKeySlots = 1u << 13;
  // The first slots are for ids, the rest for families without ids in their keys, one slot each.
  static constexpr std::size_t kIdSlots = 1u << 11;
  struct Slots {
    std::array<Head, kKeySlots> by_key{};
    std::array<Head, kIdSlots + kFamilies> by_walk{};
  };

  static std::uint32_t key_slot_of(Family family, std::string_view key);
  static std::uint32_t walk_slot_of(Family family, std::string_view key);
  void link(Change& change);
  void unlink(Change& change);
  static void gather(const Change* from, Family family, std::string_view lower, std::string_view upper,
                     std::vector<KeyChange>& to);

  const std::unique_ptr<Slots> slots_;
  mutable std::mutex mutex_;  // guards all links; a head may be compared with null without it
  std::uint64_t newest_ = 0;
};

}  // namespace stoa::core

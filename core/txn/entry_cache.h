// Recently used names, and names recently found absent. Filled and changed only under the lock of the directory, so
// that it never disagrees with the store. A fixed number of slots, each for the last name that fell on it.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>

#include "base/chunked_table.h"
#include "core/inode/entry.h"

namespace stoa::core {

class EntryCache {
 public:
  explicit EntryCache(std::uint64_t entries_max);

  // `key` is the key of family entry. A record with kNoFile: the name is absent.
  std::optional<EntryRecord> find(std::string_view key) const;
  void set(std::string_view key, const EntryRecord& record);

 private:
  static constexpr std::size_t kLocks = 64;
  struct Slot {
    std::string key;
    EntryRecord record;
  };
  std::size_t slot_of(std::string_view key) const { return std::hash<std::string_view>{}(key) % slots_.size(); }

  std::mutex& lock_of(std::size_t slot) const { return locks_[ChunkedTable<Slot>::chunk_of(slot) % kLocks]; }

  ChunkedTable<Slot> slots_;
  mutable std::array<std::mutex, kLocks> locks_;
};

}  // namespace stoa::core

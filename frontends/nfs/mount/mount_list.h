// The list of mounts, as far as clients reported them (RFC 1813 5.2.2). For people only: it decides nothing, so it may
// lose entries.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace stoa::mount3 {

struct MountEntry {
  std::string client;
  std::string path;
  bool operator==(const MountEntry&) const = default;
};

// Thread-safe. In memory, bounded: the oldest entry goes when it is full.
class MountList {
 public:
  explicit MountList(std::size_t entries_max) : entries_max_(entries_max) {}

  void add(const MountEntry& entry);
  void remove(const MountEntry& entry);
  void remove_all(const std::string& client);
  std::vector<MountEntry> entries() const;

 private:
  const std::size_t entries_max_;
  mutable std::mutex mutex_;  // guards entries_
  std::deque<MountEntry> entries_;
};

}  // namespace stoa::mount3

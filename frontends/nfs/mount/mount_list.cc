#include "frontends/nfs/mount/mount_list.h"

#include <algorithm>

namespace stoa::mount3 {

void MountList::add(const MountEntry& entry) {
  const std::lock_guard lock(mutex_);
  if (std::find(entries_.begin(), entries_.end(), entry) != entries_.end()) return;
  if (entries_.size() >= entries_max_) entries_.pop_front();
  entries_.push_back(entry);
}

void MountList::remove(const MountEntry& entry) {
  const std::lock_guard lock(mutex_);
  std::erase(entries_, entry);
}

void MountList::remove_all(const std::string& client) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const MountEntry& entry) { return entry.client == client; });
}

std::vector<MountEntry> MountList::entries() const {
  const std::lock_guard lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

}  // namespace stoa::mount3

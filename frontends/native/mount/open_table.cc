#include "frontends/native/mount/open_table.h"

#include <mutex>

namespace stoa::native::mount {

fuse::Handle OpenTable::add(OpenEntry entry) {
  auto shared = std::make_shared<OpenEntry>(std::move(entry));
  const std::unique_lock lock(mutex_);
  entries_.emplace(++last_, std::move(shared));
  return fuse::Handle{last_};
}

std::shared_ptr<OpenEntry> OpenTable::find(fuse::Handle handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(static_cast<std::uint64_t>(handle));
  return found == entries_.end() ? nullptr : found->second;
}

std::shared_ptr<OpenEntry> OpenTable::remove(fuse::Handle handle) {
  const std::unique_lock lock(mutex_);
  const auto found = entries_.find(static_cast<std::uint64_t>(handle));
  if (found == entries_.end()) return nullptr;
  auto entry = std::move(found->second);
  entries_.erase(found);
  return entry;
}

}  // namespace stoa::native::mount

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

std::vector<OpenTable::Kept> OpenTable::all(std::uint64_t& last) const {
  const std::shared_lock lock(mutex_);
  last = last_;
  std::vector<Kept> all;
  for (const auto& [handle, entry] : entries_)
    all.push_back({handle, entry->id, entry->open, entry->cred, entry->stream != nullptr});
  return all;
}

void OpenTable::restore(const std::vector<Kept>& all, std::uint64_t last) {
  const std::unique_lock lock(mutex_);
  last_ = last;
  for (const Kept& kept : all) {
    auto entry = std::make_shared<OpenEntry>(OpenEntry{.id = kept.file, .open = kept.open, .cred = kept.cred});
    // Cookies stay what they are: it goes on behind the newest that the kernel has.
    if (kept.directory) entry->stream = std::make_unique<DirectoryStream>();
    entries_.emplace(kept.handle, std::move(entry));
  }
}

}  // namespace stoa::native::mount

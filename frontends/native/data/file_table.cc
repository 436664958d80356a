#include "frontends/native/data/file_table.h"

#include <algorithm>

namespace stoa::native::data {

std::shared_ptr<BufferedFile> FileTable::find(core::FileId id) const {
  if (!any_) return nullptr;
  const Shard& at = shard(id);
  const std::lock_guard lock(at.mutex);
  const auto found = at.files.find(id);
  return found == at.files.end() ? nullptr : found->second;
}

std::shared_ptr<BufferedFile> FileTable::get(core::FileId id) {
  Shard& at = shard(id);
  const std::lock_guard lock(at.mutex);
  auto& file = at.files[id];
  if (file) return file;
  file = std::make_shared<BufferedFile>(id);
  any_ = true;
  auto made = file;
  if (at.files.size() >= at.sweep_at) sweep(at);
  return made;
}

// A file that somebody holds (an open, a queue, the caller of get) stays: there is one of an id at a time.
void FileTable::sweep(Shard& shard) {
  std::erase_if(shard.files, [](const auto& entry) {
    if (entry.second.use_count() > 1) return false;
    const std::lock_guard lock(entry.second->mutex);
    return entry.second->idle();
  });
  shard.sweep_at = std::max(kSweepFrom, 2 * shard.files.size());
}

FileTable::Files FileTable::under(std::uint64_t lease, core::FileId id) const {
  Files found;
  const auto add = [&](const std::shared_ptr<BufferedFile>& file) {
    const std::lock_guard lock(file->mutex);
    if (file->lease == lease) found.push_back(file);
  };
  if (id != core::kNoFile) {
    if (const auto file = find(id)) add(file);
    return found;
  }
  for (const auto& file : all()) add(file);
  return found;
}

FileTable::Files FileTable::all() const {
  Files found;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [id, file] : shard.files) found.push_back(file);
  }
  return found;
}

std::vector<std::shared_ptr<OpenFile>> FileTable::opens() const {
  const std::shared_lock lock(opens_mutex_);
  std::vector<std::shared_ptr<OpenFile>> all;
  for (const auto& [number, open] : opens_) all.push_back(open);
  return all;
}

void FileTable::add(const std::shared_ptr<OpenFile>& open) {
  const std::lock_guard lock(opens_mutex_);
  opens_.emplace(open->number, open);
}

std::shared_ptr<OpenFile> FileTable::open(OpenNumber number) const {
  const std::shared_lock lock(opens_mutex_);
  const auto found = opens_.find(number);
  return found == opens_.end() ? nullptr : found->second;
}

std::shared_ptr<OpenFile> FileTable::remove(OpenNumber number) {
  const std::lock_guard lock(opens_mutex_);
  auto node = opens_.extract(number);
  return node ? node.mapped() : nullptr;
}

}  // namespace stoa::native::data

// What was written is made durable: when it is asked for, and before too much is kept that is not.
#include <utility>

#include "frontends/native/data/write_behind.h"

namespace stoa::native::data {

void WriteBehind::list_uncommitted(const File& file, std::uint64_t bytes) {
  uncommitted_bytes_ += bytes;
  {
    const std::lock_guard lock(file->mutex);
    if (std::exchange(file->listed, true)) return;
  }
  const std::lock_guard lock(queue_mutex_);
  uncommitted_.push_back(file);
}

// Before the client keeps so much that it has to write durably.
void WriteBehind::commit_old() {
  FileTable::Files old;
  {
    const std::lock_guard lock(queue_mutex_);
    const bool many = uncommitted_bytes_ > kUncommittedMost || uncommitted_.size() > kFilesUncommittedMost;
    if (!many) return;
    old.assign(uncommitted_.begin(), uncommitted_.end());
    uncommitted_.clear();
    uncommitted_bytes_ = 0;
  }
  commit_listed(old);
}

void WriteBehind::commit_listed(const FileTable::Files& files) {
  std::size_t next = 0;
  while (next < files.size()) {
    FileTable::Files group;
    std::vector<StorageCommit> commits;
    core::Credentials writer;
    for (; next < files.size() && commits.size() < kCommitsMost; ++next) {
      BufferedFile& file = *files[next];
      const std::lock_guard lock(file.mutex);
      if (file.uncommitted && !commits.empty() && !(file.writer == writer)) break;
      file.listed = false;
      if (!file.uncommitted) continue;
      writer = file.writer;
      file.uncommitted = false;
      ++file.committing;
      group.push_back(files[next]);
      commits.push_back({file.id, 0});
    }
    if (commits.empty()) continue;
    const auto results = below_.commit_all(sender(writer), commits);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::lock_guard lock(group[i]->mutex);
      --group[i]->committing;
      // A file that is gone needs nothing.
      if (!results[i] && results[i].error().code != Errc::kStale) group[i]->record(loss_of(results[i].error()));
      group[i]->changed.notify_all();
    }
  }
}

// Little that waits, and nothing of the file behind it: one message makes it durable. False: it has to be committed.
bool WriteBehind::sync_small(const File& file, const Asker& asker, Status& synced) {
  {
    const std::lock_guard lock(file->mutex);
    const bool small = file->writes.has_waiting() && !file->writes.sends() && file->writes.bytes() <= kSmallSync;
    if (!small || file->uncommitted || file->committing != 0) return false;
    ++file->syncs;
  }
  synced = flush(file, asker);
  const std::lock_guard lock(file->mutex);
  --file->syncs;
  return !synced || (!file->uncommitted && file->committing == 0);
}

Status WriteBehind::commit(const File& file, const Asker& asker, OpenNumber open) {
  Status flushed;
  if (sync_small(file, asker, flushed)) return flushed;
  STOA_CHECK_OK(flush(file, asker));
  bool uncommitted = false;
  {
    const std::lock_guard lock(file->mutex);
    uncommitted = std::exchange(file->uncommitted, false);
    ++file->committing;
  }
  const Status committed = below_.commit(asker, file->id, open);
  const bool interrupted = !committed && committed.error().sys_errno == EINTR;
  {
    const std::lock_guard lock(file->mutex);
    --file->committing;
    if (interrupted) file->uncommitted = file->uncommitted || uncommitted;
    if (!committed && !interrupted) file->record(committed.error());
    file->changed.notify_all();
  }
  if (interrupted && uncommitted) list_uncommitted(file, 0);
  return committed;
}

void WriteBehind::write_back(const FileTable::Files& files) {
  flush(files);
  commit_listed(files);
  for (const File& file : files) {
    std::unique_lock lock(file->mutex);
    file->changed.wait(lock, [&] { return file->committing == 0; });
  }
}

}  // namespace stoa::native::data

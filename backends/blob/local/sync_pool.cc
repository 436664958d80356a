#include "backends/blob/local/sync_pool.h"

#include <algorithm>

namespace stoa::blob_local {

SyncPool::SyncPool() {
  threads_.reserve(kSyncThreads);
  for (unsigned i = 0; i < kSyncThreads; ++i) threads_.emplace_back([this] { run(); });
}

SyncPool::~SyncPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SyncPool::work_on(Job& job, std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<HostFile>& file = job.files[job.next++];
  if (job.next == job.files.size()) std::erase(jobs_, &job);
  lock.unlock();
  Status synced = file->sync();
  lock.lock();
  if (!synced && job.result) job.result = std::move(synced);
  if (++job.done == job.files.size()) finished_.notify_all();
}

void SyncPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    work_on(*jobs_.front(), lock);
  }
}

Status SyncPool::sync(std::span<const std::shared_ptr<HostFile>> files) {
  if (files.empty()) return {};
  if (files.size() == 1) return files[0]->sync();
  Job job{.files = files};
  std::unique_lock lock(mutex_);
  jobs_.push_back(&job);
  const std::size_t helpers = std::min<std::size_t>(files.size() - 1, kSyncThreads);
  for (std::size_t i = 0; i < helpers; ++i) wake_.notify_one();
  while (job.next < job.files.size()) work_on(job, lock);
  finished_.wait(lock, [&] { return job.done == job.files.size(); });
  return std::move(job.result);
}

}  // namespace stoa::blob_local

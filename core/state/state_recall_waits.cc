// Requests that wait until the recalls of a file are answered.
#include <condition_variable>

#include "base/assert.h"
#include "core/state/state_table.h"

namespace stoa::core {

Result<std::optional<RecallWait>> VolumeState::when_clear(FileId id, std::function<void()> clear) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  const auto lapses = found == shard.files.end() ? std::nullopt : found->second.leases.awaited_until(options_.now());
  if (!lapses) return when_writers_are_back(id, std::move(clear));
  FileState& file = found->second;
  if (recall_waits_.fetch_add(1) >= kRecallWaitsMax) {
    recall_waits_.fetch_sub(1);
    return fail(Errc::kBusy, "too many requests wait for recalls");
  }
  const std::uint64_t number = shard.next_id++;
  file.recall_waits.push_back({number, std::move(clear)});
  return RecallWait{id, number, *lapses};
}

Result<std::optional<RecallWait>> VolumeState::when_writers_are_back(FileId id, std::function<void()> clear) {
  if (!awaits_writers()) return std::nullopt;
  const std::lock_guard lock(recalls_mutex_);
  if (!awaits_writers_.load()) return std::nullopt;
  if (recall_waits_.fetch_add(1) >= kRecallWaitsMax) {
    recall_waits_.fetch_sub(1);
    return fail(Errc::kBusy, "too many requests wait for recalls");
  }
  const std::uint64_t number = kWriterWaits | next_writer_wait_++;
  writer_waits_.push_back({number, std::move(clear)});
  return RecallWait{id, number, reclaim_.writers_end()};
}

void VolumeState::stop_waiting(const RecallWait& wait) {
  if ((wait.number & kWriterWaits) != 0) {
    const std::lock_guard lock(recalls_mutex_);
    const auto gone =
        std::erase_if(writer_waits_, [&](const FileState::Waiting& waiting) { return waiting.number == wait.number; });
    recall_waits_.fetch_sub(static_cast<std::int64_t>(gone));
    return;
  }
  Shard& shard = shard_of(wait.file);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(wait.file);
  if (found == shard.files.end()) return;
  const auto gone = std::erase_if(found->second.recall_waits,
                                  [&](const FileState::Waiting& waiting) { return waiting.number == wait.number; });
  STOA_ASSERT(gone <= 1, "each wait has a number of its own");
  const std::int64_t before = recall_waits_.fetch_sub(static_cast<std::int64_t>(gone));
  STOA_ASSERT(before >= static_cast<std::int64_t>(gone), "no more waits for recalls end than began");
}

Status VolumeState::wait_until_clear(FileId id, StateClock::time_point until) {
  struct Latch {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;  // guarded by `mutex`
  };
  const auto latch = std::make_shared<Latch>();
  STOA_TRY(wait, when_clear(id, [latch] {
             const std::lock_guard lock(latch->mutex);
             latch->open = true;
             latch->opened.notify_one();
           }));
  if (!wait) return {};
  std::unique_lock lock(latch->mutex);
  // A span, as the clock of the table may be another one than that of the condition.
  const auto most = std::min(until, wait->lapses) - options_.now();
  const bool cleared = latch->opened.wait_for(lock, most, [&] { return latch->open; });
  lock.unlock();
  if (!cleared) stop_waiting(*wait);
  return {};
}

}  // namespace stoa::core

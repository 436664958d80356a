// Waiting for the byte-range locks of the table.
#include "base/assert.h"
#include "core/state/state_table.h"

namespace stoa::core {

LockWait* VolumeState::add_wait(const LockRequest& wanted, const ByteSpan& span) {
  LockWait* const wait = waits_.add(wanted, span, &holders_.of_peer(wanted.owner.holder));
  if (wait == nullptr) return nullptr;
  Shard& shard = shard_of(wanted.file);
  const std::lock_guard lock(shard.mutex);
  shard.files[wanted.file].waited_for = true;
  holders_.count(wanted.owner.holder, 1);
  return wait;
}

std::vector<LockOwner> VolumeState::owners_in_the_way(const LockWait& wait) const {
  const Shard& shard = shard_of(wait.wanted.file);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(wait.wanted.file);
  if (found == shard.files.end()) return {};
  return found->second.locks.owners_in_the_way(wait.wanted.owner, wait.span, wait.wanted.exclusive);
}

bool VolumeState::kept_by_locks(const FileState& file, const LockRequest& wanted, const ByteSpan& span) {
  return file.locks.in_the_way(wanted.owner, span, wanted.exclusive).has_value() ||
         file.mandatory.in_the_way(kNoOpen, wanted.range, wanted.exclusive) != nullptr;
}

bool VolumeState::take_unwaited(const LockRequest& wanted, const ByteSpan& span) {
  Shard& shard = shard_of(wanted.file);
  const std::lock_guard lock(shard.mutex);
  if (!holders_.alive(wanted.owner.holder)) return false;
  FileState& file = shard.files[wanted.file];
  bool taken = false;
  if (!file.waited_for && !kept_by_locks(file, wanted, span)) {
    const auto result = take_lock(shard, wanted.file, file, wanted.owner, span, wanted.exclusive);
    taken = result && !*result;
  }
  forget_if_empty(shard, wanted.file);
  return taken;
}

Result<std::optional<HeldLock>> VolumeState::take_without_place(const LockRequest& wanted, const ByteSpan& span,
                                                                News& news) {
  auto result = [&] {
    Shard& shard = shard_of(wanted.file);
    const std::lock_guard lock(shard.mutex);
    auto taken = take_lock(shard, wanted.file, shard.files[wanted.file], wanted.owner, span, wanted.exclusive);
    forget_if_empty(shard, wanted.file);
    return taken;
  }();
  if (result && !*result) serve_waits(wanted.file, news);
  return result;
}

Result<bool> VolumeState::lock_or_wait(const LockRequest& wanted) {
  STOA_TRY(span, span_of(wanted.range));
  // The lock need not wait for the answer: files leases hold no locks, and each access of the locker passes the gate,
  // where it waits for what is not written back yet.
  (void)ask_files_leases(wanted.file, wanted.owner.holder, kLockShared);
  if (files_leases_.load(std::memory_order_relaxed) != 0) send_recalls();
  if (take_unwaited(wanted, span)) return true;
  const LockWaits::Holding holding = [this](const LockWait& wait) { return owners_in_the_way(wait); };
  News news;
  const auto answer = [&]() -> Result<bool> {
    const std::lock_guard lock(waits_mutex_);
    // Its holder is retired before its waits are removed, which this lock is needed for: none is added behind that.
    if (!holders_.alive(wanted.owner.holder)) return fail(Errc::kInvalid, "no such holder");
    LockWait* wait = waits_.find(wanted);
    if (wait == nullptr) wait = add_wait(wanted, span);
    if (wait == nullptr) {
      const auto taken = take_without_place(wanted, span, news);
      if (taken && !*taken) return true;
      return fail(Errc::kBusy, "too many wait for locks");
    }
    wait->asking.reset();
    serve_waits(wanted.file, news);
    if (std::erase(news.granted, wanted) != 0) return true;
    if (waits_.is_deadlock(*wait, holding)) {
      holders_.count(wanted.owner.holder, -1);
      waits_.remove(wanted);
      serve_waits(wanted.file, news);
      return fail(Errc::kDeadlock);
    }
    // This very request may be the one that passes.
    while (const LockWait* const passing = waits_.let_one_pass(*wait, holding)) {
      const FileId file = passing->wanted.file;
      serve_waits(file, news);
      if (std::erase(news.granted, wanted) != 0) return true;
    }
    return false;
  }();
  send_recalls();
  tell(news);
  return answer;
}

Result<std::optional<HeldLock>> VolumeState::take_in_turn(LockWait& wait) {
  const LockRequest& wanted = wait.wanted;
  Shard& shard = shard_of(wanted.file);
  const std::lock_guard lock(shard.mutex);
  FileState& file = shard.files[wanted.file];
  const LockWait* const before = LockWaits::whose_turn_before(*waits_.of(wanted.file), wait);
  if (before == nullptr) return take_lock(shard, wanted.file, file, wanted.owner, wait.span, wanted.exclusive);
  STOA_TRY(held, lock_in_the_way(shard, wanted.file, file, wanted.owner, wait.span, wanted.exclusive));
  if (held) return held;
  return HeldLock{before->wanted.owner, before->wanted.range, before->wanted.exclusive};
}

Result<std::optional<HeldLock>> VolumeState::lock_in_turn(const LockRequest& wanted,
                                                          const std::optional<HandleBytes>& handle) {
  STOA_TRY(span, span_of(wanted.range));
  (void)ask_files_leases(wanted.file, wanted.owner.holder, kLockShared);  // as in lock_or_wait()
  Shard& shard = shard_of(wanted.file);
  bool in_turn = true;  // whether other requests wait, or this one has to from now on
  auto answer = [&]() -> Result<std::optional<HeldLock>> {
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(wanted.owner.holder)) return fail(Errc::kInvalid, "no such holder");
    FileState& file = shard.files[wanted.file];
    if (file.waited_for) return std::nullopt;
    auto result = take_lock(shard, wanted.file, file, wanted.owner, span, wanted.exclusive);
    in_turn = result ? result->has_value() : result.error().code == Errc::kRecallPending;
    forget_if_empty(shard, wanted.file);
    return result;
  }();
  if (!in_turn || (!answer && answer.error().code != Errc::kRecallPending)) {
    send_recalls();
    return answer;
  }
  const LockWaits::Holding holding = [this](const LockWait& wait) { return owners_in_the_way(wait); };
  News news;
  answer = [&]() -> Result<std::optional<HeldLock>> {
    const std::lock_guard lock(waits_mutex_);
    if (!holders_.alive(wanted.owner.holder)) return fail(Errc::kInvalid, "no such holder");
    LockWait* wait = waits_.find(wanted);
    if (wait == nullptr) wait = add_wait(wanted, span);
    if (wait == nullptr) return take_without_place(wanted, span, news);
    const auto now = options_.now();
    const StateClock::duration away = wait->asking ? now - wait->asking->last : StateClock::duration{};
    const StateClock::duration place =
        handle ? kTurnAskedFor : std::clamp<StateClock::duration>(3 * away, kTurnCalled, kTurnAskedFor);
    wait->asking = {.last = now, .until = now + place};  // no event needed: the caller is here
    serve_waits(wanted.file, news);
    while (const LockWait* const passing = waits_.let_one_pass(*wait, holding)) {
      const FileId file = passing->wanted.file;
      serve_waits(file, news);
    }
    auto result = take_in_turn(*wait);
    if (result ? result->has_value() : result.error().code == Errc::kRecallPending) {
      wait->asking->handle = handle;
      return result;
    }
    holders_.count(wanted.owner.holder, -1);
    waits_.remove(wanted);
    serve_waits(wanted.file, news);  // a downgrade gives something back, and others may have stood behind it
    return result;
  }();
  send_recalls();
  tell(news);
  return answer;
}

void VolumeState::serve_waits(FileId id, News& news) {
  LockWaits::Queue* const queue = waits_.of(id);
  if (queue == nullptr) return;
  const auto now = options_.now();
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  FileState& file = shard.files[id];
  // A lock that is granted may downgrade another one of its owner, which frees the way for an earlier wait.
  for (bool more = true; more;) {
    more = false;
    for (auto wait = queue->begin(); wait != queue->end();) {
      const LockRequest& wanted = wait->wanted;
      if (wait->asking && now >= wait->asking->until) {
        holders_.count(wanted.owner.holder, -1);
        wait = waits_.remove(*queue, wait);
        continue;
      }
      // A request that a lock blocks need not recall leases yet.
      const bool kept =
          kept_by_locks(file, wanted, wait->span) || LockWaits::whose_turn_before(*queue, *wait) != nullptr;
      if (wait->asking) {
        if (!kept && wait->asking->handle) {
          wait->asking->until = std::min(wait->asking->until, now + kTurnCalled);
          news.turns.push_back({wanted, *std::exchange(wait->asking->handle, std::nullopt)});
        }
        ++wait;
        continue;
      }
      if (kept || !take_lock(shard, id, file, wanted.owner, wait->span, wanted.exclusive)) {
        ++wait;
        continue;
      }
      news.granted.push_back(wanted);
      holders_.count(wanted.owner.holder, -1);
      wait = waits_.remove(*queue, wait);
      more = true;
    }
  }
  STOA_ASSERT(file.waited_for || queue->empty(), "a file with a queue is marked as waited for");
  if (queue->empty()) {
    waits_.drop(id);
    file.waited_for = false;
    forget_if_empty(shard, id);
  }
}

void VolumeState::serve_waits(FileId id) {
  News news;
  {
    const std::lock_guard lock(waits_mutex_);
    serve_waits(id, news);
  }
  send_recalls();
  tell(news);
}

void VolumeState::tell(const News& news) {
  for (const LockRequest& lock : news.granted)
    holders_.tell(lock.owner.holder, [&](HolderEvents& events) { events.lock_granted({lock}); });
  for (const LockTurn& turn : news.turns)
    holders_.tell(turn.wanted.owner.holder, [&](HolderEvents& events) { events.lock_turn(turn); });
}

void VolumeState::end_wait(const LockRequest& wanted) {
  const std::lock_guard lock(waits_mutex_);
  if (waits_.remove(wanted)) holders_.count(wanted.owner.holder, -1);
}

bool VolumeState::cancel_wait(const LockRequest& wanted) {
  {
    const std::lock_guard lock(waits_mutex_);
    if (!waits_.remove(wanted)) return false;
    holders_.count(wanted.owner.holder, -1);
  }
  serve_waits(wanted.file);  // others kept behind it
  return true;
}

void VolumeState::retry_waits() {
  std::vector<FileId> files;
  {
    const std::lock_guard lock(waits_mutex_);
    files = waits_.files();
  }
  for (const FileId file : files) serve_waits(file);
  std::vector<FileId> undeleted;
  {
    const std::lock_guard lock(undeleted_mutex_);
    undeleted.assign(undeleted_.begin(), undeleted_.end());
  }
  for (const FileId file : undeleted) delete_doomed(file);
}

}  // namespace stoa::core

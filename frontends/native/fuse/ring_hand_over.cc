// RingQueues from one process to the next.
#include <sys/eventfd.h>

#include <algorithm>
#include <set>

#include "frontends/native/fuse/blocked_signals.h"
#include "frontends/native/fuse/ring_queues.h"

namespace stoa::native::fuse {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kLookAgain{500};

bool has_request(RingUse use) {
  return use == RingUse::kWaits || use == RingUse::kHeld || use == RingUse::kFills;
}

}  // namespace

// --- the old process

Status RingQueues::may_pause() const {
  if (whole_) return {};
  return fail(Errc::kNotSupported,
              "an error has taken a part of its io_uring queues, as its log tells; unmount it and mount it again");
}

Status RingQueues::pause(RingFill& fill, const Processors& processors, Clock::time_point until) {
  {
    const std::lock_guard lock(hold_mutex_);
    filled_.store(true);
    paused_.store(true);
  }
  for (std::vector<std::uint32_t> added(queues_.size());;) {
    STOA_TRY(full, fill_up(fill, processors, added));
    if (full) return {};
    if (ended_) return fail(Errc::kShutdown, "it was unmounted");
    if (fill.any_ended()) return fail(Errc::kNotSupported, "something else is mounted over it; unmount that");
    if (Clock::now() >= until) return fail(Errc::kTimeout, "a request of it does not end");
    std::this_thread::sleep_for(kLookAgain);
  }
}

Result<bool> RingQueues::fill_up(RingFill& fill, const Processors& processors, std::vector<std::uint32_t>& added) {
  // A request that waits, as its thread says, and was answered at this moment is not there any more.
  std::unordered_set<std::uint64_t> waiting;
  for (const auto& wait : dispatcher_->lock_waits().waiting()) waiting.insert(wait.unique);
  std::vector<std::uint32_t> idle(queues_.size()), fills(queues_.size());
  bool full = true;
  for (const auto& entry : entries_) {
    const RingUse use = entry->use();
    if (use == RingUse::kIdle) ++idle[entry->queue()];
    if (use == RingUse::kFills) ++fills[entry->queue()];
    if (use == RingUse::kRuns || (use == RingUse::kWaits && !waiting.contains(entry->unique()))) full = false;
  }
  // Nobody sends to the queue of a processor that does not run, so its idle entries may end with this process.
  for (const std::uint32_t running : processors.running) {
    if (running >= queues_.size() || idle[running] == 0) continue;
    full = false;
    for (; added[running] - fills[running] < idle[running]; ++added[running]) {
      STOA_CHECK_OK(fill.add(static_cast<std::uint16_t>(running)));
    }
  }
  return full;
}

void RingQueues::resume() {
  {
    const std::lock_guard lock(hold_mutex_);
    paused_.store(false);
    resumed_.notify_all();
  }
  ::eventfd_write(wake_.get(), 1);
}

void RingQueues::leave() {
  {
    const std::lock_guard lock(hold_mutex_);
    left_.store(true);
    resumed_.notify_all();
  }
  ::eventfd_write(wake_.get(), 1);
  const std::lock_guard lock(mutex_);
  for (const auto& seat : seats_) seat->end();
}

RingState RingQueues::state(std::vector<int>& memories) const {
  RingState state;
  std::vector<const RingMemory*> used;
  for (const auto& entry : entries_) {
    if (!has_request(entry->use())) continue;
    const auto found = std::ranges::find(used, &entry->memory());
    const auto number = static_cast<std::uint32_t>(found - used.begin());
    if (found == used.end()) used.push_back(&entry->memory());
    state.entries.push_back({entry->queue(), number, entry->slot(), entry->use() == RingUse::kFills});
  }
  memories.clear();
  for (const RingMemory* const memory : used) {
    state.memories.push_back({memory->address(), memory->slots()});
    memories.push_back(memory->fd());
  }
  return state;
}

bool RingQueues::has_waiting(std::uint64_t unique) const {
  return std::ranges::any_of(
      entries_, [unique](const auto& entry) { return entry->use() == RingUse::kWaits && entry->unique() == unique; });
}

RingQueues::Arrived RingQueues::arrived(RingEntry& entry) {
  // Either this thread sees the pause, or who pauses sees that it runs.
  entry.set_use(RingUse::kRuns);
  bool fills = false;
  if (paused_ || filled_) {
    std::unique_lock lock(hold_mutex_);
    fills = is_fill(entry);
    while (is_held()) {
      entry.set_use(fills ? RingUse::kFills : RingUse::kHeld);
      resumed_.wait(lock);
    }
    if (left_) return Arrived::kOfAnother;
    entry.set_use(RingUse::kRuns);
  }
  return fills ? Arrived::kFill : Arrived::kRequest;
}

// --- the new process

Result<std::unique_ptr<RingQueues>> RingQueues::take_over(int fuse, const RingState& state,
                                                          std::vector<OwnedFd> memories, const Processors& processors) {
  if (processors.possible == 0) return fail(Errc::kNotSupported, "/sys does not tell the processors");
  if (memories.size() != state.memories.size()) return fail(Errc::kInvalid, "a part of the memory of requests lacks");
  std::unique_ptr<RingQueues> queues(new RingQueues(fuse, processors.possible));
  queues->paused_ = true;
  queues->used_ = true;
  STOA_CHECK_OK(queues->open());
  for (std::size_t i = 0; i < memories.size(); ++i) {
    STOA_TRY(memory, RingMemory::take_over(std::move(memories[i]), state.memories[i].address, state.memories[i].slots));
    queues->memories_.push_back(std::move(memory));
  }
  STOA_CHECK_OK(queues->take_entries(state));
  // Those that ended with the old process, and those of a processor that runs by now.
  std::vector<std::uint32_t> counts(processors.possible, kEntriesAtRest);
  for (const std::uint32_t running : processors.running) {
    if (running < counts.size()) counts[running] = kEntries - std::min(kEntries, queues->queues_[running].entries);
  }
  STOA_CHECK_OK(queues->add_entries(counts));
  return queues;
}

Status RingQueues::take_entries(const RingState& state) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (const RingState::Entry& one : state.entries) {
    if (one.queue >= queues_.size() || one.memory >= memories_.size() || one.slot >= memories_[one.memory]->slots() ||
        !taken.emplace(one.memory, one.slot).second) {
      return fail(Errc::kInvalid, "an entry of the io_uring queues is none");
    }
    if (one.fills) held_.push_back(entries_.size());
    ++queues_[one.queue].entries;
    entries_.push_back(std::make_unique<RingEntry>(one.queue, *memories_[one.memory], one.slot,
                                                   one.fills ? RingUse::kFills : RingUse::kHeld));
  }
  return {};
}

Result<ReplyChannel*> RingQueues::channel_of(std::uint64_t unique) {
  const auto found = std::ranges::find_if(
      entries_, [unique](const auto& entry) { return entry->use() == RingUse::kHeld && entry->unique() == unique; });
  if (found == entries_.end()) return fail(Errc::kInvalid, "a wait without its entry");
  STOA_TRY(seat, make_seat(**found));
  if (!seat->wait_first()) return fail(Errc::kInvalid, "too many wait for locks");
  (*found)->set_use(RingUse::kWaits);
  const std::lock_guard lock(mutex_);
  seats_.push_back(std::move(seat));
  return seats_.back().get();
}

Status RingQueues::start_paused(Dispatcher& dispatcher) {
  dispatcher_ = &dispatcher;
  const BlockedSignals blocked;
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    if (entry->use() != RingUse::kHeld) continue;
    STOA_TRY(seat, make_seat(*entry));
    seats_.push_back(std::move(seat));
  }
  for (const auto& seat : seats_) {
    if (!seat->start()) return fail(Errc::kBusy, "the system starts no more threads; end some programs");
  }
  return start_reserve();
}

}  // namespace stoa::native::fuse

#include "core/state/lock_waits.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "base/assert.h"

namespace stoa::core {
namespace {

bool conflict(const LockWait& a, const LockWait& b) {
  return a.wanted.owner != b.wanted.owner && overlap(a.span, b.span) &&
         (conflicts_with(mode_of_lock(a.wanted.exclusive)) & mode_of_lock(b.wanted.exclusive)) != 0;
}

}  // namespace

std::size_t LockWaits::OwnerHash::operator()(const LockOwner& owner) const {
  return std::hash<std::string>{}(owner.name) ^ static_cast<std::uint64_t>(owner.holder) * 0x9E3779B97F4A7C15ULL;
}

const LockWaits::Queue* LockWaits::of(FileId file) const {
  const auto found = queues_.find(file);
  return found == queues_.end() ? nullptr : &found->second;
}

LockWait* LockWaits::find(const LockRequest& wanted) {
  const auto waits = by_owner_.find(wanted.owner);
  if (waits == by_owner_.end()) return nullptr;
  const auto found = std::ranges::find_if(waits->second, [&](const LockWait* wait) { return wait->wanted == wanted; });
  return found == waits->second.end() ? nullptr : *found;
}

LockWait* LockWaits::add(const LockRequest& wanted, const ByteSpan& span, const void* peer) {
  const auto held = by_holder_.find(wanted.owner.holder);
  const auto of_peer = by_peer_.find(peer);
  const auto queue = queues_.find(wanted.file);
  if (size_ >= kAll || (held != by_holder_.end() && held->second >= kPerHolder) ||
      (of_peer != by_peer_.end() && of_peer->second >= kPerPeer) ||
      (queue != queues_.end() && queue->second.size() >= kPerFile)) {
    return nullptr;
  }
  LockWait& wait = queues_[wanted.file].emplace_back(LockWait{.wanted = wanted, .span = span, .peer = peer});
  by_owner_[wanted.owner].push_back(&wait);
  ++by_holder_[wanted.owner.holder];
  ++by_peer_[peer];
  ++size_;
  STOA_ASSERT(by_owner_.size() <= size_, "each owner in the index waits");
  return &wait;
}

LockWaits::Queue::iterator LockWaits::remove(Queue& queue, Queue::iterator wait) {
  const LockOwner& owner = wait->wanted.owner;
  const auto mine = by_owner_.find(owner);
  STOA_ASSERT(mine != by_owner_.end(), "who waits is known by owner");
  STOA_ASSERT(size_ > 0, "no more waits end than began");
  const auto ended = std::erase(mine->second, &*wait);
  STOA_ASSERT(ended == 1, "a wait is known by its owner once");
  if (mine->second.empty()) by_owner_.erase(mine);
  const auto held = by_holder_.find(owner.holder);
  STOA_ASSERT(held != by_holder_.end() && held->second > 0, "each wait is counted for its holder");
  if (--held->second == 0) by_holder_.erase(held);
  const auto of_peer = by_peer_.find(wait->peer);
  STOA_ASSERT(of_peer != by_peer_.end() && of_peer->second > 0, "each wait is counted for its peer");
  if (--of_peer->second == 0) by_peer_.erase(of_peer);
  --size_;
  return queue.erase(wait);
}

bool LockWaits::remove(const LockRequest& wanted) {
  const LockWait* const wait = find(wanted);
  if (wait == nullptr) return false;
  Queue& queue = queues_.at(wanted.file);
  remove(queue, std::ranges::find_if(queue, [&](const LockWait& one) { return &one == wait; }));
  return true;
}

std::vector<FileId> LockWaits::remove(HolderId holder) {
  std::vector<FileId> waited_for;
  if (!by_holder_.contains(holder)) return waited_for;
  for (auto& [file, queue] : queues_) {
    const std::size_t before = queue.size();
    for (auto at = queue.begin(); at != queue.end();) {
      at = at->wanted.owner.holder == holder ? remove(queue, at) : std::next(at);
    }
    if (queue.size() != before) waited_for.push_back(file);
  }
  return waited_for;
}

void LockWaits::drop(FileId file) {
  const auto found = queues_.find(file);
  if (found != queues_.end() && found->second.empty()) queues_.erase(found);
}

std::vector<FileId> LockWaits::files() const {
  std::vector<FileId> found;
  found.reserve(queues_.size());
  for (const auto& [file, queue] : queues_) found.push_back(file);
  return found;
}

const LockWait* LockWaits::whose_turn_before(const Queue& queue, const LockWait& wait) {
  if (wait.passes) return nullptr;
  for (const LockWait& earlier : queue) {
    if (&earlier == &wait) return nullptr;
    if (conflict(earlier, wait)) return &earlier;
  }
  return nullptr;
}

std::vector<LockWaits::Step> LockWaits::cycle(LockWait& wait, const Holding& holding, bool with_order) {
  // The order of arrival leads to those before it in the queue alone. A cycle needs a waiter that also holds a lock of
  // this file, and mostly there is none.
  const LockWait any{.wanted = {.file = wait.wanted.file, .owner = {kNoHolder, {}}, .range = {}, .exclusive = true},
                     .span = {0, UINT64_MAX}};
  if (std::ranges::none_of(holding(any), [this](const LockOwner& owner) { return by_owner_.contains(owner); }))
    return {};
  std::vector<Step> steps{{&wait, 0, false}};
  std::unordered_set<const LockWait*> seen{&wait};
  std::unordered_set<LockOwner, OwnerHash> seen_owners;
  const auto way_back = [&](std::size_t from, bool by_order) {
    std::vector<Step> way{{&wait, from, by_order}};
    for (std::size_t at = from; at != 0; at = steps[at].from) way.push_back(steps[at]);
    return way;
  };
  for (std::size_t at = 0; at < steps.size(); ++at) {
    LockWait& here = *steps[at].wait;
    for (const LockOwner& owner : holding(here)) {
      if (owner == wait.wanted.owner) return way_back(at, false);
      if (!seen_owners.insert(owner).second) continue;
      const auto waits = by_owner_.find(owner);
      if (waits == by_owner_.end()) continue;
      for (LockWait* const next : waits->second) {
        if (next->asking && !with_order) continue;
        if (seen.insert(next).second) steps.push_back({next, at, false});
      }
    }
    if (!with_order || here.passes) continue;
    for (LockWait& earlier : queues_.at(here.wanted.file)) {
      if (&earlier == &here) break;
      if (!conflict(earlier, here)) continue;
      if (&earlier == &wait) return way_back(at, true);
      if (seen.insert(&earlier).second) steps.push_back({&earlier, at, true});
    }
  }
  return {};
}

bool LockWaits::is_deadlock(LockWait& wait, const Holding& holding) {
  return !cycle(wait, holding, false).empty();
}

LockWait* LockWaits::let_one_pass(LockWait& wait, const Holding& holding) {
  const std::vector<Step> way = cycle(wait, holding, true);
  // A step tells how it was reached: the owner to let pass is one step before it.
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (!way[i].by_order) continue;
    LockWait* const waits_its_turn = i + 1 < way.size() ? way[i + 1].wait : &wait;
    STOA_ASSERT(!waits_its_turn->passes, "who passes keeps to no order, and is let pass once");
    waits_its_turn->passes = true;
    return waits_its_turn;
  }
  return nullptr;
}

}  // namespace stoa::core

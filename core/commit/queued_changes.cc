#include "core/commit/queued_changes.h"

#include <algorithm>
#include <functional>
#include <span>

#include "base/assert.h"
#include "core/api/ids.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// Families whose keys begin with the id of a file or directory, and whose scans read all keys of one id.
bool is_walked_by_id(Family family) {
  return family == Family::kEntry || family == Family::kCookie || family == Family::kXattr || family == Family::kLink ||
         family == Family::kFold;
}

bool is_of_one_id(std::string_view lower, std::string_view upper) {
  const std::string_view id = lower.substr(0, sizeof(FileId));
  return id.size() == sizeof(FileId) && !upper.empty() && upper <= keys::behind_prefix(std::string(id));
}

}  // namespace

QueuedChanges::Part::Part(const WriteBatch& batch)
    : changes_(std::make_unique<Change[]>(batch.ops().size())), size_(batch.ops().size()) {
  for (std::size_t i = 0; i < size_; ++i) {
    const WriteBatch::Op& op = batch.ops()[i];
    const std::string_view key = batch.key(op);
    Change& change = changes_[i];
    change.bytes = key.data();
    change.key_size = op.key_size;
    change.value_size = op.value_size;
    change.family = op.family;
    STOA_ASSERT(op.kind != WriteBatch::Kind::kAdd);  // only the committer adds, when it writes a group
    change.remove = op.kind == WriteBatch::Kind::kRemove;
    change.key_slot = key_slot_of(op.family, key);
    change.walk_slot = walk_slot_of(op.family, key);
  }
}

QueuedChanges::QueuedChanges() : slots_(std::make_unique<Slots>()) {}

std::uint32_t QueuedChanges::key_slot_of(Family family, std::string_view key) {
  const std::size_t hash =
      std::hash<std::string_view>{}(key) + static_cast<std::size_t>(family) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::uint32_t>(hash % kKeySlots);
}

std::uint32_t QueuedChanges::walk_slot_of(Family family, std::string_view key) {
  if (!is_walked_by_id(family)) return static_cast<std::uint32_t>(kIdSlots + static_cast<std::size_t>(family));
  return key_slot_of(family, key.substr(0, sizeof(FileId))) % kIdSlots;
}

void QueuedChanges::link(Change& change) {
  STOA_ASSERT(!change.linked, "a change is in its chains once");
  Head& head = slots_->by_key[change.key_slot];
  Head& walk_head = slots_->by_walk[change.walk_slot];
  change.next = head.load(std::memory_order_relaxed);
  if (change.next != nullptr) change.next->previous = &change;
  change.walk_next = walk_head.load(std::memory_order_relaxed);
  if (change.walk_next != nullptr) change.walk_next->walk_previous = &change;
  change.linked = true;
  head.store(&change, std::memory_order_release);
  walk_head.store(&change, std::memory_order_release);
}

void QueuedChanges::unlink(Change& change) {
  STOA_ASSERT(change.linked, "what leaves the chains is in them");
  if (change.next != nullptr) {
    STOA_ASSERT(change.next->previous == &change, "neighbours of a chain know each other");
    change.next->previous = change.previous;
  }
  if (change.previous != nullptr) {
    STOA_ASSERT(change.previous->next == &change, "neighbours of a chain know each other");
    change.previous->next = change.next;
  } else {
    STOA_ASSERT(slots_->by_key[change.key_slot].load(std::memory_order_relaxed) == &change, "a chain has one first");
    slots_->by_key[change.key_slot].store(change.next, std::memory_order_release);
  }
  if (change.walk_next != nullptr) {
    STOA_ASSERT(change.walk_next->walk_previous == &change, "neighbours of a chain know each other");
    change.walk_next->walk_previous = change.walk_previous;
  }
  if (change.walk_previous != nullptr) {
    STOA_ASSERT(change.walk_previous->walk_next == &change, "neighbours of a chain know each other");
    change.walk_previous->walk_next = change.walk_next;
  } else {
    STOA_ASSERT(slots_->by_walk[change.walk_slot].load(std::memory_order_relaxed) == &change, "a chain has one first");
    slots_->by_walk[change.walk_slot].store(change.walk_next, std::memory_order_release);
  }
  change.linked = false;
}

void QueuedChanges::add(Part& part, std::uint64_t unit) {
  const std::lock_guard lock(mutex_);
  STOA_ASSERT(unit > newest_, "numbers of units rise");
  newest_ = unit;
  for (std::size_t i = 0; i < part.size_; ++i) {
    Change& change = part.changes_[i];
    Change* older = slots_->by_key[change.key_slot].load(std::memory_order_relaxed);
    while (older != nullptr && !older->is_of(change.family, change.key())) older = older->next;
    // Before the older one goes: a reader without the lock must not find nothing in between.
    link(change);
    if (older == nullptr) continue;
    STOA_ASSERT(older->superseded_by.load(std::memory_order_relaxed) == 0, "a change is superseded once");
    older->superseded_by.store(unit, std::memory_order_relaxed);
    unlink(*older);
  }
}

void QueuedChanges::remove(Part& part) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < part.size_; ++i) {
    Change& change = part.changes_[i];
    STOA_ASSERT(change.linked != (change.superseded_by.load(std::memory_order_relaxed) != 0),
                "a change is found until a newer one takes its place");
    if (change.linked) unlink(change);
  }
}

QueuedChanges::Found QueuedChanges::find(Family family, std::string_view key, std::string* value) const {
  const Head& head = slots_->by_key[key_slot_of(family, key)];
  if (head.load(std::memory_order_acquire) == nullptr) return Found::kNothing;
  const std::lock_guard lock(mutex_);
  for (const Change* at = head.load(std::memory_order_relaxed); at != nullptr; at = at->next) {
    if (!at->is_of(family, key)) continue;
    if (at->remove) return Found::kRemoved;
    *value = at->value();
    return Found::kValue;
  }
  return Found::kNothing;
}

void QueuedChanges::gather(const Change* from, Family family, std::string_view lower, std::string_view upper,
                           std::vector<KeyChange>& to) {
  for (const Change* at = from; at != nullptr; at = at->walk_next) {
    const std::string_view key = at->key();
    if (at->family != family || key < lower || (!upper.empty() && key >= upper)) continue;
    to.push_back({std::string(key), at->remove ? std::nullopt : std::optional<std::string>(at->value())});
  }
}

QueuedChanges::Range QueuedChanges::between(Family family, std::string_view lower, std::string_view upper) const {
  const bool of_all_ids = is_walked_by_id(family) && !is_of_one_id(lower, upper);
  const std::size_t first = of_all_ids ? 0 : walk_slot_of(family, lower);
  const std::size_t count = of_all_ids ? kIdSlots : 1;
  const std::span heads = std::span(slots_->by_walk).subspan(first, count);
  Range range;
  if (std::ranges::all_of(heads, [](const Head& head) { return head.load(std::memory_order_acquire) == nullptr; }))
    return range;
  {
    const std::lock_guard lock(mutex_);
    for (const Head& head : heads) gather(head.load(std::memory_order_relaxed), family, lower, upper, range.changes);
    range.newest = newest_;
  }
  std::ranges::sort(range.changes, {}, &KeyChange::key);
  return range;
}

}  // namespace stoa::core

#include "frontends/nfs/rpc/duplicate_cache.h"

#include <bit>
#include <cstring>

namespace stoa::rpc {

DuplicateCache::DuplicateCache(const DuplicateCacheOptions& options, MetricRegistry& metrics)
    : options_(options),
      shard_entries_max_(options.entries_max / kShards),
      replays_(metrics.counter("stoa_nfs_drc_replays_total",
                               "Retransmitted calls answered from the duplicate request cache")),
      in_progress_(
          metrics.counter("stoa_nfs_drc_in_progress_total", "Retransmitted calls dropped while the first was running")),
      uncached_(
          metrics.counter("stoa_nfs_drc_uncached_total", "Calls that the duplicate request cache had no room for")),
      bytes_gauge_(metrics.gauge("stoa_nfs_drc_bytes", "Bytes of replies in the duplicate request cache")) {
  for (Shard& shard : shards_) {
    shard.buckets.assign(std::bit_ceil(std::max<std::uint32_t>(shard_entries_max_, 1)), kNone);
  }
}

core::RequestKey request_key(const CallKey& key) {
  std::uint64_t parts[2];
  std::memcpy(parts, key.address.data(), sizeof parts);
  std::uint64_t low = 0x9e3779b97f4a7c15;
  const std::uint64_t more[] = {parts[0], parts[1], std::uint64_t{key.program} << 32 | key.procedure, key.size};
  for (const std::uint64_t part : more) {
    low = (low ^ part) * 0xbf58476d1ce4e5b9;
    low ^= low >> 29;
  }
  return {std::uint64_t{key.xid} << 32 | key.checksum, low | 1};
}

std::uint64_t DuplicateCache::hash(const CallKey& key) {
  std::uint64_t low = 0;
  std::memcpy(&low, key.address.data() + 8, 8);
  std::uint64_t h = (std::uint64_t{key.xid} << 32 | key.checksum) ^ (low * 0x9e3779b97f4a7c15);
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9;
  return h ^ h >> 32;
}

DuplicateCache::Begin DuplicateCache::begin_locked(Shard& shard, const CallKey& key,
                                                   std::chrono::steady_clock::time_point now) {
  const std::uint64_t shard_number = static_cast<std::uint64_t>(&shard - shards_.data());
  std::uint32_t& head = shard.buckets[hash(key) / kShards & (shard.buckets.size() - 1)];
  for (std::uint32_t i = head; i != kNone; i = shard.slots[i].next) {
    Slot& slot = shard.slots[i];
    if (slot.key != key) continue;
    if (slot.state == State::kRunning) {
      in_progress_.add();
      return {Verdict::kInProgress};
    }
    if (now - slot.since < options_.entry_life) {
      replays_.add();
      return {Verdict::kReplay, std::uint64_t{i} << 8 | shard_number};
    }
    drop_reply(slot);  // Too old to be a retransmission: a new call that happens to look the same.
    slot.state = State::kRunning;
    slot.since = now;
    return {Verdict::kNew, std::uint64_t{i} << 8 | shard_number};
  }
  const std::uint32_t index = slot_for_new(shard);
  if (index == kNone) {
    uncached_.add();
    return {Verdict::kUncached};
  }
  Slot& slot = shard.slots[index];
  slot.key = key;
  slot.state = State::kRunning;
  slot.since = now;
  slot.next = head;
  head = index;
  return {Verdict::kNew, std::uint64_t{index} << 8 | shard_number};
}

std::uint32_t DuplicateCache::slot_for_new(Shard& shard) {
  if (shard.slots.size() < shard_entries_max_ && bytes() < options_.bytes_max) {
    shard.slots.emplace_back();
    return static_cast<std::uint32_t>(shard.slots.size() - 1);
  }
  // Overwrites the oldest call that is not running. Calls that run are few; a handful of steps passes them.
  constexpr int kStepsMax = 64;
  for (int step = 0; step < kStepsMax && !shard.slots.empty(); ++step) {
    const std::uint32_t index = shard.hand;
    shard.hand = static_cast<std::uint32_t>((shard.hand + 1) % shard.slots.size());
    Slot& slot = shard.slots[index];
    if (slot.state == State::kRunning) continue;
    if (slot.state == State::kDone) {
      unlink(shard, index);
      drop_reply(slot);
    }
    return index;
  }
  return kNone;
}

void DuplicateCache::unlink(Shard& shard, std::uint32_t index) {
  std::uint32_t* link = &shard.buckets[hash(shard.slots[index].key) / kShards & (shard.buckets.size() - 1)];
  while (*link != index) link = &shard.slots[*link].next;
  *link = shard.slots[index].next;
}

void DuplicateCache::drop_reply(Slot& slot) {
  bytes_.fetch_sub(slot.reply.size(), std::memory_order_relaxed);
  slot.reply.clear();  // Keeps its memory: the next reply is of about the same size.
}

void DuplicateCache::finish(Ticket ticket, std::span<const std::byte> reply,
                            std::chrono::steady_clock::time_point now) {
  if (reply.size() > options_.reply_bytes_max) return forget(ticket);
  Shard& shard = shards_[ticket & 0xff];
  {
    const std::lock_guard lock(shard.mutex);
    Slot& slot = shard.slots[ticket >> 8];
    slot.reply.assign(reply.begin(), reply.end());
    slot.state = State::kDone;
    slot.since = now;
  }
  const std::uint64_t all = bytes_.fetch_add(reply.size(), std::memory_order_relaxed) + reply.size();
  bytes_gauge_.set(static_cast<std::int64_t>(all));
}

void DuplicateCache::forget(Ticket ticket) {
  Shard& shard = shards_[ticket & 0xff];
  const std::lock_guard lock(shard.mutex);
  const auto index = static_cast<std::uint32_t>(ticket >> 8);
  unlink(shard, index);
  shard.slots[index].state = State::kFree;
}

std::size_t DuplicateCache::entries() const {
  std::size_t count = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const Slot& slot : shard.slots) count += slot.state == State::kFree ? 0 : 1;
  }
  return count;
}

}  // namespace stoa::rpc

// The duplicate request cache: a client that lost a reply retransmits its call, and a call that is not idempotent must
// not run twice. It has the replies of recent calls, and the calls that are being run now.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/metrics.h"
#include "core/api/request_key.h"

namespace stoa::rpc {

struct DuplicateCacheOptions {
  std::uint32_t entries_max = 16384;                 // all shards together; 0 switches the cache off
  std::uint64_t bytes_max = std::uint64_t{8} << 20;  // of kept replies
  std::uint32_t reply_bytes_max = 4096;              // a longer reply is not kept
  std::chrono::seconds entry_life{120};              // longer than any client waits before it sends again
};

// The identity of a call: two calls with the same key are the same call. The client's port is no part of it: a client
// that reconnects may come from another. The checksum and the size of the whole call keep two clients behind one
// address apart, and a client that counts its transactions from the start again.
struct CallKey {
  std::array<std::uint8_t, 16> address{};
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t procedure = 0;
  std::uint32_t size = 0;
  std::uint32_t checksum = 0;
  bool operator==(const CallKey&) const = default;
};
// The key by which the core knows a change across restarts. Never zero.
core::RequestKey request_key(const CallKey& key);

// Thread-safe.
class DuplicateCache {
 public:
  enum class Verdict : std::uint8_t {
    kNew,         // run it, then call finish() or forget() with the ticket
    kReplay,      // answer with `reply`
    kInProgress,  // another worker runs it: drop the call, the first one's reply will do
    kUncached,    // run it; there is no room to keep it
  };
  using Ticket = std::uint64_t;
  struct Begin {
    Verdict verdict;
    Ticket ticket = 0;
  };

  DuplicateCache(const DuplicateCacheOptions& options, MetricRegistry& metrics);

  // With kReplay, appends the kept reply by calling `take` with it (under a lock: copy, do not wait).
  template <class Take>
  Begin begin(const CallKey& key, std::chrono::steady_clock::time_point now, Take take) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    const Begin begun = begin_locked(shard, key, now);
    if (begun.verdict == Verdict::kReplay) take(std::span<const std::byte>(shard.slots[begun.ticket >> 8].reply));
    return begun;
  }
  void finish(Ticket ticket, std::span<const std::byte> reply, std::chrono::steady_clock::time_point now);
  // The call was not run, or its outcome is unknown: the next one that looks the same is a new one.
  void forget(Ticket ticket);

  std::size_t entries() const;
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  enum class State : std::uint8_t { kFree, kRunning, kDone };
  struct Slot {
    CallKey key;
    State state = State::kFree;
    std::uint32_t next = kNone;  // in the chain of its bucket
    std::chrono::steady_clock::time_point since{};
    std::vector<std::byte> reply;
  };
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<Slot> slots;             // a ring: the oldest is overwritten; grows up to its share of entries_max
    std::vector<std::uint32_t> buckets;  // heads of chains; its size is a power of two
    std::uint32_t hand = 0;
  };

  static std::uint64_t hash(const CallKey& key);
  Shard& shard_of(const CallKey& key) { return shards_[hash(key) % kShards]; }
  Begin begin_locked(Shard& shard, const CallKey& key, std::chrono::steady_clock::time_point now);
  std::uint32_t slot_for_new(Shard& shard);
  void unlink(Shard& shard, std::uint32_t index);
  void drop_reply(Slot& slot);

  const DuplicateCacheOptions options_;
  const std::uint32_t shard_entries_max_;
  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> bytes_{0};
  Counter& replays_;
  Counter& in_progress_;
  Counter& uncached_;
  Gauge& bytes_gauge_;
};

}  // namespace stoa::rpc

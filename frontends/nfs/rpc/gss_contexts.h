// The security contexts of RPCSEC_GSS clients, found by the handles that they were given.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "base/rw_lock.h"
#include "frontends/kerberos/gss_mechanism.h"
#include "frontends/nfs/rpc/gss_window.h"

namespace stoa::rpc {

using kerberos::GssContext;
using kerberos::GssMechanism;
using kerberos::GssStep;
using wire::ReplyBuffer;

// Beyond a limit the least recently used context goes: its client makes another one.
struct GssLimits {
  std::uint32_t contexts_max = 16384;
  std::uint32_t contexts_per_address_max = 1024;
  std::uint32_t forming_max = 64;  // begun and not yet complete
  std::chrono::seconds forming_timeout{30};
};

using GssHandle = std::array<std::byte, 16>;
using ClientAddress = std::array<std::uint8_t, 16>;

struct GssEntry {
  using Clock = std::chrono::steady_clock;
  GssHandle handle{};  // random: cannot be guessed
  ClientAddress address{};
  std::atomic<Clock::time_point> used{};
  std::atomic<bool> established{false};

  std::mutex mutex;  // guards the two below; held while the mechanism computes
  std::unique_ptr<GssContext> context;
  GssWindow window;

  // Set before `established`, then constant.
  std::string principal;
  Clock::time_point expires{};
};

// Thread-safe.
class GssContexts {
 public:
  using Clock = GssEntry::Clock;
  using EntryRef = std::shared_ptr<GssEntry>;

  GssContexts(const GssLimits& limits, MetricRegistry& metrics);

  // Null: there is none. It may be one that has expired.
  EntryRef find(std::span<const std::byte> handle, Clock::time_point now) const;
  // A new one, of which `context` is the beginning.
  EntryRef add(const ClientAddress& address, std::unique_ptr<GssContext> context, Clock::time_point now);
  void establish(GssEntry& entry, std::string principal, Clock::time_point expires);
  // Calls that use it now go on to their end.
  void remove(const GssEntry& entry);
  std::size_t size() const;

 private:
  struct HandleHash {
    std::size_t operator()(const GssHandle& handle) const;
  };
  using Map = std::unordered_map<GssHandle, EntryRef, HandleHash>;

  void erase_locked(Map::iterator entry);
  void drop_old_locked(Clock::time_point now);
  // Evicts the least recently used of those that `wanted` picks.
  template <class Wanted>
  void evict_locked(Wanted wanted);

  const GssLimits limits_;
  mutable RwLock lock_;  // guards everything below
  Map entries_;
  std::map<ClientAddress, std::uint32_t> by_address_;
  std::uint32_t forming_ = 0;
  Clock::time_point next_sweep_{};
  Counter& evicted_;
};

}  // namespace stoa::rpc

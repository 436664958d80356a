#include "frontends/nfs/rpc/gss_contexts.h"

#include <sys/random.h>

#include <cstring>
#include <shared_mutex>

#include "base/assert.h"

namespace stoa::rpc {
namespace {

constexpr std::chrono::seconds kSweepPeriod{10};

GssHandle make_handle() {
  GssHandle handle;
  STOA_ASSERT(getrandom(handle.data(), handle.size(), 0) == static_cast<ssize_t>(handle.size()));
  return handle;
}

}  // namespace

std::size_t GssContexts::HandleHash::operator()(const GssHandle& handle) const {
  std::size_t hash = 0;  // it is random already
  std::memcpy(&hash, handle.data(), sizeof hash);
  return hash;
}

GssContexts::GssContexts(const GssLimits& limits, MetricRegistry& metrics)
    : limits_(limits),
      evicted_(metrics.counter("stoa_nfs_gss_evicted_total", "Security contexts dropped because there were too many")) {
  metrics.gauge_callback("stoa_nfs_gss_contexts", "Security contexts of RPCSEC_GSS clients", {},
                         [this] { return static_cast<double>(size()); });
}

GssContexts::EntryRef GssContexts::find(std::span<const std::byte> handle, Clock::time_point now) const {
  GssHandle wanted;
  if (handle.size() != wanted.size()) return nullptr;
  std::memcpy(wanted.data(), handle.data(), wanted.size());
  const std::shared_lock lock(lock_);
  const auto found = entries_.find(wanted);
  if (found == entries_.end()) return nullptr;
  found->second->used.store(now, std::memory_order_relaxed);
  return found->second;
}

GssContexts::EntryRef GssContexts::add(const ClientAddress& address, std::unique_ptr<GssContext> context,
                                       Clock::time_point now) {
  auto entry = std::make_shared<GssEntry>();
  entry->handle = make_handle();
  entry->address = address;
  entry->context = std::move(context);
  entry->used.store(now, std::memory_order_relaxed);

  const std::lock_guard lock(lock_);
  if (now >= next_sweep_) drop_old_locked(now);
  if (forming_ >= limits_.forming_max) evict_locked([](const GssEntry& e) { return !e.established.load(); });
  const auto of_address = by_address_.find(address);
  if (of_address != by_address_.end() && of_address->second >= limits_.contexts_per_address_max) {
    evict_locked([&](const GssEntry& e) { return e.address == address; });
  }
  if (entries_.size() >= limits_.contexts_max) evict_locked([](const GssEntry&) { return true; });
  ++forming_;
  ++by_address_[address];
  entries_.emplace(entry->handle, entry);
  return entry;
}

void GssContexts::establish(GssEntry& entry, std::string principal, Clock::time_point expires) {
  const std::lock_guard lock(lock_);
  entry.principal = std::move(principal);
  entry.expires = expires;
  entry.established.store(true, std::memory_order_release);
  if (entries_.contains(entry.handle)) --forming_;
}

void GssContexts::remove(const GssEntry& entry) {
  const std::lock_guard lock(lock_);
  if (const auto found = entries_.find(entry.handle); found != entries_.end()) erase_locked(found);
}

std::size_t GssContexts::size() const {
  const std::shared_lock lock(lock_);
  return entries_.size();
}

void GssContexts::erase_locked(Map::iterator entry) {
  if (!entry->second->established.load()) --forming_;
  const auto of_address = by_address_.find(entry->second->address);
  if (--of_address->second == 0) by_address_.erase(of_address);
  entries_.erase(entry);
}

void GssContexts::drop_old_locked(Clock::time_point now) {
  next_sweep_ = now + kSweepPeriod;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto next = std::next(it);
    const GssEntry& entry = *it->second;
    const bool old = entry.established.load()
                         ? entry.expires <= now
                         : entry.used.load(std::memory_order_relaxed) + limits_.forming_timeout <= now;
    if (old) erase_locked(it);
    it = next;
  }
}

template <class Wanted>
void GssContexts::evict_locked(Wanted wanted) {
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (!wanted(*it->second)) continue;
    if (oldest == entries_.end() ||
        it->second->used.load(std::memory_order_relaxed) < oldest->second->used.load(std::memory_order_relaxed)) {
      oldest = it;
    }
  }
  if (oldest == entries_.end()) return;
  erase_locked(oldest);
  evicted_.add();
}

}  // namespace stoa::rpc

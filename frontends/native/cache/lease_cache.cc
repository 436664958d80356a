// Leases: asked for, granted, pinned, ended.
#include "frontends/native/cache/lease_cache.h"

#include <algorithm>
#include <ctime>

namespace stoa::native {
namespace {

using core::kHandleCaching;
using core::kReadCaching;
using core::kWriteCaching;

constexpr std::size_t kPausesMost = 16384;
constexpr std::array<std::uint32_t, 3> kBits{kReadCaching, kHandleCaching, kWriteCaching};

std::int64_t boot_time_ns() {
  timespec now{};
  (void)clock_gettime(CLOCK_BOOTTIME, &now);  // it cannot fail with this clock
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::chrono::nanoseconds LeaseCache::trusted_for() const {
  const std::int64_t until = calls_.trusted_until_ns();
  return std::chrono::nanoseconds(until > 0 ? until - boot_time_ns() : 0);
}

LeaseTicket LeaseCache::ticket() {
  const std::lock_guard lock(mutex_);
  return {.sent = ++now_, .granted = now_};
}

LeaseCache::Lease* LeaseCache::lease_on(core::FileId file) {
  const auto found = on_.find(file);
  return found == on_.end() ? nullptr : &leases_.at(found->second);
}

LeaseCache::Lease* LeaseCache::cover(core::FileId file, std::uint32_t bits) {
  Lease* lease = lease_on(file);
  if (lease == nullptr) {
    const auto found = under_.find(file);
    if (found == under_.end()) return nullptr;
    lease = &leases_.at(found->second);
  }
  return (lease->bits & ~lease->going & bits) == bits ? lease : nullptr;
}

LeaseCache::Lease* LeaseCache::trusted_cover(core::FileId file, std::uint32_t bits) {
  Lease* lease = cover(file, bits);
  if (lease == nullptr || !trusted()) return nullptr;
  used_.splice(used_.begin(), used_, lease->used);
  return lease;
}

std::uint32_t LeaseCache::paused_bits(core::FileId file) {
  const auto found = pauses_.find(file);
  if (found == pauses_.end()) return 0;
  std::uint32_t bits = 0;
  const auto now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < kBits.size(); ++i) bits |= found->second[i] > now ? kBits[i] : 0;
  if (bits == 0) pauses_.erase(found);
  return bits;
}

void LeaseCache::pause(core::FileId file, std::uint32_t bits) {
  const auto now = std::chrono::steady_clock::now();
  if (pauses_.size() >= kPausesMost) {
    std::erase_if(
        pauses_, [&](const auto& one) { return one.second[0] <= now && one.second[1] <= now && one.second[2] <= now; });
  }
  if (pauses_.size() >= kPausesMost) pauses_.clear();  // the server has pauses of its own
  Pause& one = pauses_[file];
  for (std::size_t i = 0; i < kBits.size(); ++i) {
    if ((bits & kBits[i]) != 0) one[i] = now + limits_.pause;
  }
}

std::optional<LeaseWish> LeaseCache::wish(core::FileId file, bool of_files, std::uint32_t bits) {
  const std::lock_guard lock(mutex_);
  if (!asks_) return {};
  bits &= ~paused_bits(file);
  Lease* lease = lease_on(file);
  if (lease != nullptr && (lease->asking || lease->going != 0 || lease->of_files != of_files)) return {};
  if (lease != nullptr) bits |= lease->bits;
  if ((bits & kReadCaching) == 0 || (lease != nullptr && bits == lease->bits)) return {};
  if (lease == nullptr) {
    const std::uint64_t number = calls_.new_lease();
    if (number == 0) return {};
    lease = &leases_[number];
    lease->number = number;
    lease->file = file;
    lease->of_files = of_files;
    lease->since = ++now_;
    lease->kept.names_since = now_;
    on_[file] = number;
    used_.push_front(number);
    lease->used = used_.begin();
  }
  lease->asking = true;
  lease->recalled = false;
  return LeaseWish{.file = file, .number = lease->number, .bits = bits, .of_files = of_files};
}

bool LeaseCache::granted(const LeaseWish& wish, LeaseTicket& ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(wish.number);
  if (found == leases_.end()) return wish.granted != 0;  // lost meanwhile
  Lease& lease = found->second;
  lease.asking = false;
  const std::uint32_t refused = wish.bits & ~wish.granted;
  if (wish.answered && refused != 0) pause(lease.file, refused);
  // What was granted may be what the recall has taken already, so it counts as if nothing were granted.
  const bool fresh = lease.bits == 0;
  if (!wish.answered || lease.recalled) {
    if (!fresh) return false;
    erase(lease);
    return true;
  }
  if (wish.granted == 0) {
    ++counts_.refused;
    if (fresh) erase(lease);
    return false;
  }
  ++counts_.granted;
  lease.bits = wish.granted & wish.bits;
  if (fresh) {
    lease.since = ++now_;
    ticket.granted = now_;
    add_file(lease, lease.file).since = ticket.sent;
  }
  return false;
}

std::optional<LeasePin> LeaseCache::pin(core::FileId file, std::uint32_t bits) {
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_cover(file, bits);
  if (lease == nullptr) return {};
  return pin_locked(*lease, bits);
}

std::optional<LeasePin> LeaseCache::pin_since(const LeaseTicket& ticket, core::FileId file, std::uint32_t bits) {
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_cover(file, bits);
  if (lease == nullptr || lease->since > ticket.sent) return {};
  return pin_locked(*lease, bits);
}

LeasePin LeaseCache::pin_locked(Lease& lease, std::uint32_t bits) {
  for (std::size_t i = 0; i < kBits.size(); ++i) lease.pins[i] += (bits & kBits[i]) != 0 ? 1 : 0;
  const HeldLease held{lease.number, lease.file, lease.bits & ~lease.going};
  std::shared_ptr<void> hold(static_cast<void*>(this),
                             [this, number = held.number, bits](void*) { unpin(number, bits); });
  return LeasePin(held, std::move(hold));
}

void LeaseCache::unpin(std::uint64_t number, std::uint32_t bits) {
  const std::lock_guard lock(mutex_);
  Lease& lease = leases_.at(number);  // it does not go while it has pins
  for (std::size_t i = 0; i < kBits.size(); ++i) lease.pins[i] -= (bits & kBits[i]) != 0 ? 1 : 0;
  if (waiting_ != 0) unpinned_.notify_all();
}

std::optional<LeaseGoing> LeaseCache::begin_end(std::uint64_t number, std::uint32_t keeps) {
  std::unique_lock lock(mutex_);
  const auto found = leases_.find(number);
  if (found == leases_.end()) return {};
  Lease& lease = found->second;
  lease.recalled = lease.asking;
  if (lease.bits == 0) return {};
  if ((keeps & kReadCaching) == 0) keeps = 0;
  ++counts_.recalls;
  LeaseGoing going{.lease = {number, lease.file, lease.bits}, .gone = lease.bits & ~keeps, .keeps = lease.bits & keeps};
  lease.going = going.gone;
  if ((going.gone & kReadCaching) != 0) lease.since = ++now_;
  ++waiting_;
  unpinned_.wait(lock, [&] {
    for (std::size_t i = 0; i < kBits.size(); ++i) {
      if ((going.gone & kBits[i]) != 0 && lease.pins[i] != 0) return false;
    }
    return true;
  });
  --waiting_;
  for (const auto& [id, file] : lease.kept.files) {
    if ((going.gone & kReadCaching) != 0) going.files.push_back(id);
    if (file.opened) going.opened.push_back(id);
  }
  const KeptDirectory& kept = lease.kept;
  going.opened.insert(going.opened.end(), kept.bare_opened.begin(), kept.bare_opened.end());
  if ((going.gone & kReadCaching) == 0) return going;
  for (const auto& [name, one] : kept.names) going.names.push_back(name);
  for (const auto* bare : {&kept.bare, &kept.bare_opened, &kept.left}) {
    going.files.insert(going.files.end(), bare->begin(), bare->end());
    going.other_names |= !bare->empty();
  }
  return going;
}

void LeaseCache::end(const LeaseGoing& going, bool pauses) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(going.lease.number);
  if (found == leases_.end()) return;
  Lease& lease = found->second;
  if (pauses && going.gone != 0) pause(lease.file, going.gone);
  lease.bits = going.keeps;
  lease.going = 0;
  if ((going.gone & kReadCaching) != 0) forget_all(lease);
  // A wish under way finds that the lease was recalled, and ends it.
  if (lease.bits == 0 && !lease.asking) erase(lease);
}

bool LeaseCache::knows(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return leases_.contains(number);
}

void LeaseCache::forget_all(Lease& lease) {
  const auto leaves = [&](core::FileId id) {
    if (const auto found = under_.find(id); found != under_.end() && found->second == lease.number) under_.erase(found);
  };
  for (const auto& [id, file] : lease.kept.files) leaves(id);
  for (const core::FileId id : lease.kept.bare) leaves(id);
  for (const core::FileId id : lease.kept.bare_opened) leaves(id);
  add_bytes(lease, -lease.kept.bytes);
  lease.kept = {};
  lease.since = ++now_;
  lease.kept.names_since = now_;
}

void LeaseCache::erase(Lease& lease) {
  forget_all(lease);
  on_.erase(lease.file);
  used_.erase(lease.used);
  leases_.erase(lease.number);
}

void LeaseCache::set_needs_names(bool needs) {
  const std::lock_guard lock(mutex_);
  needs_names_ = needs;
}

std::uint64_t LeaseCache::forget_most(Lease& lease) {
  const std::int64_t before = lease.kept.bytes;
  forgot_unplaced_ = ++now_;
  lease.kept.forget_most(lease.file, now_);
  const std::int64_t freed = before - lease.kept.bytes;
  counts_.bytes -= static_cast<std::uint64_t>(freed);
  return static_cast<std::uint64_t>(freed);
}

// Some more than are too many: with the end of a lease the kernel asks for all names again.
std::vector<std::uint64_t> LeaseCache::superfluous() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> found;
  std::size_t left = leases_.size();
  std::uint64_t bytes = counts_.bytes;
  if (left <= limits_.leases && bytes <= limits_.bytes) return found;
  const std::size_t leases_most = limits_.leases - limits_.leases / 8;
  const std::uint64_t bytes_most = limits_.bytes - limits_.bytes / 4;
  for (auto at = used_.rbegin(); at != used_.rend() && (left > leases_most || bytes > bytes_most); ++at) {
    Lease& lease = leases_.at(*at);
    if (lease.bits == 0 || lease.going != 0 || lease.asking) continue;
    const auto of_lease = static_cast<std::uint64_t>(lease.kept.bytes);
    // Of a directory that is much of all there is, most goes, as long as that is worth the trouble.
    if (!needs_names_ && bytes > bytes_most && of_lease > limits_.bytes / 4) {
      const std::uint64_t freed = forget_most(lease);
      bytes -= freed;
      if (freed > of_lease / 32) continue;
    }
    found.push_back(*at);
    --left;
    bytes -= std::min(bytes, static_cast<std::uint64_t>(lease.kept.bytes));
  }
  return found;
}

std::vector<std::uint64_t> LeaseCache::leases() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> found;
  for (const auto& [number, lease] : leases_) found.push_back(number);
  return found;
}

std::vector<core::FileId> LeaseCache::opened_files() const {
  const std::lock_guard lock(mutex_);
  std::vector<core::FileId> found;
  for (const auto& [number, lease] : leases_) {
    for (const auto& [id, file] : lease.kept.files) {
      if (file.opened) found.push_back(id);
    }
    found.insert(found.end(), lease.kept.bare_opened.begin(), lease.kept.bare_opened.end());
  }
  return found;
}

std::uint64_t LeaseCache::lease_of(core::FileId directory) const {
  const std::lock_guard lock(mutex_);
  const auto found = on_.find(directory);
  return found != on_.end() && leases_.at(found->second).of_files ? found->second : 0;
}

std::optional<core::FileId> LeaseCache::directory_of(core::FileId file) const {
  const std::lock_guard lock(mutex_);
  const auto found = under_.find(file);
  if (found == under_.end()) return {};
  return leases_.at(found->second).file;
}

LeaseCacheCounts LeaseCache::counts() const {
  const std::lock_guard lock(mutex_);
  LeaseCacheCounts counts = counts_;
  counts.leases = leases_.size();
  return counts;
}

}  // namespace stoa::native

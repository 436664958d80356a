// State held of one file, for administrators.
#include "core/state/state_table.h"

namespace stoa::core {
namespace {

template <class T>
void add(FileHoldings::List<T>& list, std::size_t most, const T& one) {
  if (list.first.size() < most) list.first.push_back(one);
  ++list.total;
}

}  // namespace

FileHoldings VolumeState::held_of(FileId id, std::size_t most) const {
  FileHoldings held;
  const auto now = options_.now();
  FileId covering = kNoFile;
  if (files_leases_.load() != 0) {
    if (const auto place = files_.place(id)) covering = place->covering();
  }
  // Both locks, so that a granted waiter is seen exactly once, as waiter or as holder.
  const std::lock_guard waits_lock(waits_mutex_);
  if (const LockWaits::Queue* const queue = waits_.of(id)) {
    for (const LockWait& wait : *queue) {
      if (wait.asking && now >= wait.asking->until) continue;  // has given up
      add(held.waits, most,
          {.holder = wait.wanted.owner.holder,
           .range = wait.wanted.range,
           .exclusive = wait.wanted.exclusive,
           .mandatory = false});
    }
  }
  if (covering != kNoFile) {
    const Shard& shard = shard_of(covering);
    const std::lock_guard lock(shard.mutex);
    if (const auto found = shard.files.find(covering); found != shard.files.end()) {
      found->second.leases.each([&](const Lease& lease) {
        if (lease.kind != LeaseKind::kFiles || lease.tentative || lease.lapsed(now)) return;
        add(held.leases, most,
            {.holder = lease.owner.holder, .bits = lease.bits, .recalled = lease.recalled.has_value(), .of = covering});
      });
    }
  }
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  if (found == shard.files.end()) return held;
  const FileState& file = found->second;
  file.shares.each([&](HolderId holder, std::uint32_t count, Modes modes) {
    add(held.opens, most, {.holder = holder, .count = count, .access = access_of(modes), .deny = deny_of(modes)});
  });
  file.locks.each([&](const LockOwner& owner, const ByteSpan& span, bool exclusive) {
    add(held.locks, most,
        {.holder = owner.holder, .range = range_of(span), .exclusive = exclusive, .mandatory = false});
  });
  file.mandatory.each([&](const MandatoryLock& one) {
    add(held.locks, most,
        {.holder = one.owner.holder, .range = one.range, .exclusive = one.exclusive, .mandatory = true});
  });
  file.leases.each([&](const Lease& lease) {
    if (lease.tentative || lease.lapsed(now)) return;
    add(held.leases, most, {.holder = lease.owner.holder, .bits = lease.bits, .recalled = lease.recalled.has_value()});
  });
  return held;
}

}  // namespace stoa::core

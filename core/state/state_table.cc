#include "core/state/state_table.h"
#include "base/assert.h"

namespace stoa::core {
namespace {

struct Count {
  std::atomic<std::int64_t>& held;
  std::int64_t max;
};

// All of them, or none.
Status take(std::initializer_list<Count> counts, std::int64_t more) {
  for (const Count* count = counts.begin(); count != counts.end(); ++count) {
    const std::int64_t now = count->held.fetch_add(more, std::memory_order_relaxed) + more;
    STOA_ASSERT(now >= 0, "no more is given back than was taken");
    if (now <= count->max || more <= 0) continue;
    for (const Count* taken = counts.begin(); taken <= count; ++taken)
      taken->held.fetch_sub(more, std::memory_order_relaxed);
    return fail(Errc::kBusy, "too many opens, locks or leases");
  }
  return {};
}

}  // namespace

VolumeState::VolumeState(StateOptions options, FileWatch& files, KvStore& kv, Committer& committer,
                         MetricRegistry& metrics)
    : options_(std::move(options)),
      files_(files),
      reclaim_(kv, committer, options_.grace, options_.now),
      recalls_(metrics.counter("stoa_lease_recalls_total", "Caching leases that were recalled")),
      revocations_(metrics.counter("stoa_lease_revocations_total", "Leases that were not returned in time")) {
  const auto count = [&](std::string_view name, std::string_view help, const std::atomic<std::int64_t>& value) {
    metrics.gauge_callback(name, help, {}, [&value] { return static_cast<double>(value.load()); });
  };
  count("stoa_opens", "Open files of clients", opens_);
  count("stoa_byte_range_locks", "Byte-range locks that are held", locks_);
  count("stoa_leases", "Caching leases that are held", leases_);
  count("stoa_files_leases", "Those of directories that cover their files", files_leases_);
  metrics.gauge_callback("stoa_byte_range_lock_waits", "Requests that wait for a byte-range lock", {}, [this] {
    const std::lock_guard lock(waits_mutex_);
    return static_cast<double>(waits_.size());
  });
  metrics.gauge_callback("stoa_state_holders", "Clients in the table of opens, locks and leases", {},
                         [this] { return static_cast<double>(holders_.size()); });
  metrics.gauge_callback("stoa_reclaim_clients", "Clients that may reclaim their state after a restart", {},
                         [this] { return static_cast<double>(reclaim_.size()); });
}

Status VolumeState::load() {
  STOA_CHECK_OK(reclaim_.load());
  awaits_writers_.store(reclaim_.awaits_writers());
  const std::uint64_t first = std::uint64_t{reclaim_.start_number()} << kSerialsOfAStart;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    shard.next_id = first + 1;
  }
  return {};
}

Status VolumeState::take_opens(HolderId holder, std::int64_t more) {
  return take({{holders_.own(holder).opens, options_.of_holder.opens},
               {holders_.of_peer(holder).opens, options_.of_peer.opens},
               {opens_, options_.opens_max}},
              more);
}

Status VolumeState::take_locks(HolderId holder, std::int64_t more) {
  return take({{holders_.own(holder).locks, options_.of_holder.locks},
               {holders_.of_peer(holder).locks, options_.of_peer.locks},
               {locks_, options_.locks_max}},
              more);
}

Status VolumeState::take_leases(HolderId holder, std::int64_t more) {
  return take({{holders_.own(holder).leases, options_.of_holder.leases},
               {holders_.of_peer(holder).leases, options_.of_peer.leases},
               {leases_, options_.leases_max}},
              more);
}

void VolumeState::forget_if_empty(Shard& shard, FileId id) {
  const auto it = shard.files.find(id);
  if (it != shard.files.end() && it->second.empty()) shard.files.erase(it);
}

void VolumeState::forget_if_empty(Shard& shard, HolderId holder) {
  const auto it = shard.holdings.find(holder);
  if (it != shard.holdings.end() && it->second.empty()) shard.holdings.erase(it);
}

HolderId VolumeState::add_holder(Protocol, HolderEvents* events, std::string_view peer, const LeaseTerms& terms) {
  return holders_.add(events, peer, terms);
}

void VolumeState::remove_holder(HolderId holder) {
  // A thread that adds to its holdings checks under a shard's mutex whether it is alive, so none is missed.
  if (!holders_.retire(holder)) return;
  std::vector<std::pair<FileId, Ended>> closed;
  std::vector<FileId> waited_for;
  {
    const std::lock_guard lock(waits_mutex_);
    const std::size_t before = waits_.size();
    waited_for = waits_.remove(holder);
    STOA_ASSERT(waits_.size() <= before, "no wait is added by a removal");
    holders_.count(holder, static_cast<std::int64_t>(waits_.size()) - static_cast<std::int64_t>(before));
  }
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.holdings.find(holder);
    if (found == shard.holdings.end()) continue;
    const Holdings gone = found->second;
    STOA_ASSERT(!gone.empty(), "a holder with nothing is not in the table");
    for (const OpenId open : gone.opens) {
      const FileId file = shard.opens.at(open).file;
      if (shard.files.at(file).waited_for) waited_for.push_back(file);
      closed.emplace_back(file, end_open(shard, open));
    }
    for (const LeaseId lease : gone.leases) {
      const FileId id = shard.leases.at(lease);
      if (shard.files.at(id).waited_for) waited_for.push_back(id);
      end_lease(shard, lease);
    }
    for (const FileId id : gone.locked) {
      FileState& file = shard.files.at(id);
      if (file.waited_for) waited_for.push_back(id);
      end_locks(shard, id, file, holder, file.locks.remove(holder));
    }
  }
  holders_.remove(holder);
  send_recalls();
  for (const FileId file : waited_for) serve_waits(file);
  for (const auto& [file, ended] : closed) finish_close(file, ended);
}

HeldCounts VolumeState::held_by(HolderId holder) const {
  if (!holders_.alive(holder)) return {};
  const Holders::Tally& mine = holders_.own(holder);
  return {mine.opens.load(), mine.locks.load(), mine.leases.load()};
}

}  // namespace stoa::core

#include "core/data/gc.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/blob/blob_record.h"
#include "core/data/block_sums.h"
#include "core/data/data_state.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

constexpr std::size_t kReleasedAtOnce = 1024;

void release(VolumeContext& volume, BlobId blob) {
  if (const Status released = volume.blobs.release(blob); !released) {
    log_warning("gc", "a blob could not be released; the next start frees it",
                {{"blob", static_cast<std::uint64_t>(blob)}, {"error", describe(released.error())}});
    return;
  }
  volume.in_flight.untrack(blob);
  volume.data->released_blobs.add();
}

void release_abandoned(VolumeContext& volume) {
  for (const BlobId blob : volume.in_flight.take_abandoned()) {
    if (volume.data->pins->pinned(blob)) {
      volume.in_flight.abandon(blob);
    } else {
      volume.data->sums.forget(blob, volume.blobs.capacity(blob));
      if (volume.blobs.capacity(blob) <= kSumRowBytes) volume.data->verified.forget(blob, 0);
      release(volume, blob);
    }
  }
}

// kCorrupt: a damaged volume counts fewer than none.
Result<std::int64_t> references(KvReader& kv, BlobId blob) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kBlob, keys::be64(static_cast<std::uint64_t>(blob)), &value));
  if (!found) return 0;
  STOA_TRY(record, BlobRecord::decode(value));
  if (record.references < 0) return fail(Errc::kCorrupt, "a blob is counted as used by fewer than none");
  return record.references;
}

struct Candidates {
  std::vector<BlobId> unused, used;
};

// The walk that found them shows the past. The queue holds each blob that some file has ended to use, so others may use
// it still, and copy it.
Result<Candidates> sort_out(VolumeContext& volume, std::span<const BlobId> candidates) {
  const auto now = volume.kv.snapshot();
  Candidates sorted;
  for (const BlobId blob : candidates) {
    std::string value;
    STOA_TRY(still, now->get(Family::kGc, keys::be64(static_cast<std::uint64_t>(blob)), &value));
    if (!still) continue;
    const auto count = references(*now, blob);
    if (!count && count.error().code == Errc::kCorrupt) {
      log_error("gc", "a blob stays, for its count of users is damaged",
                {{"blob", static_cast<std::uint64_t>(blob)}, {"error", describe(count.error())}});
      continue;
    }
    if (!count) return fail(count.error());
    (*count == 0 ? sorted.unused : sorted.used).push_back(blob);
  }
  return sorted;
}

// Blobs that other files still use leave the queue. The last use may end between the look at the count and the removal,
// which then removed the mark of that end. So the count is looked at again.
Status drop_candidates(VolumeContext& volume, std::span<const BlobId> used) {
  if (used.empty()) return {};
  RecordChanges dropped, back;
  for (const BlobId blob : used) dropped.remove_garbage(blob);
  STOA_CHECK_OK(volume.committer.commit({.batch = dropped.take()}));
  Status done;
  for (const BlobId blob : used) {
    const auto count = references(volume.kv, blob);
    if (!count || *count == 0) back.mark_garbage(blob);
    if (!count && done) done = fail(count.error());
  }
  if (back.empty()) return done;
  volume.in_flight.garbage.store(true, std::memory_order_release);
  STOA_CHECK_OK(volume.committer.commit({.batch = back.take()}));
  return done;
}

// Those that no operation can take up any more. A copy pins a blob from before it reads the record that names it until
// its use is queued. At count zero no new copy can begin. So a blob that is unpinned after that, and still has count
// zero, stays so.
Result<std::vector<BlobId>> unreachable(VolumeContext& volume, std::span<const BlobId> unused) {
  std::vector<BlobId> unpinned, found;
  for (const BlobId blob : unused) {
    if (volume.data->pins->pinned(blob)) {
      volume.in_flight.garbage.store(true, std::memory_order_release);
    } else {
      unpinned.push_back(blob);
    }
  }
  if (unpinned.empty()) return found;
  const auto now = volume.kv.snapshot();
  for (const BlobId blob : unpinned) {
    STOA_TRY(count, references(*now, blob));
    if (count == 0) found.push_back(blob);
  }
  return found;
}

// The number of blobs freed with one sync. A crash behind that sync leaves them without a name, and a start frees this
// many by itself (backends/blob/local/sweep.h).
std::size_t piece_of(const VolumeContext& volume, std::span<const BlobId> blobs) {
  constexpr std::size_t kLargeMax = 4, kSomeMax = 32;
  constexpr std::uint64_t kSmallBytes = std::uint64_t{32} << 20, kSomeBytes = std::uint64_t{512} << 20;
  std::uint64_t bytes = 0;
  std::size_t large = 0;
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    const std::uint64_t capacity = volume.blobs.capacity(blobs[i]);
    const bool is_large = capacity > kSomeBytes;  // a host file of its own
    large += is_large ? 1 : 0;
    bytes += is_large ? 0 : capacity;
    const bool fits = large == 0 ? bytes <= kSmallBytes || (i < kSomeMax && bytes <= kSomeBytes)
                                 : i < kSomeMax && large <= kLargeMax && bytes <= kSomeBytes;
    if (!fits && i > 0) return i;
  }
  return blobs.size();
}

// The records of the blobs go first, and then their places are free.
Status free_piece(VolumeContext& volume, std::span<const BlobId> unused) {
  // No writer is left. Before the snapshot is made, so that it has the stored sums.
  for (const BlobId blob : unused) volume.data->sums.forget(blob, volume.blobs.capacity(blob));
  const auto now = volume.kv.snapshot();
  RecordChanges done;
  for (const BlobId blob : unused) {
    STOA_CHECK_OK(stage_no_sums(*now, done, blob));
    done.remove_garbage(blob);
    done.remove_blob(blob);
    volume.in_flight.track(blob);  // for the verifier: nothing names it until it is released
  }
  // Durably: with that, all ends of uses are durable that made the count zero. And no record is left, after a crash
  // either, that would free the blob of the next user of the place.
  STOA_TRY(gone, volume.committer.commit({.batch = done.take()}));
  STOA_CHECK_OK(volume.committer.wait_durable(gone));
  for (const BlobId blob : unused) {
    if (volume.blobs.capacity(blob) <= kSumRowBytes) volume.data->verified.forget(blob, 0);
    release(volume, blob);
  }
  return {};
}

Status free_unused(VolumeContext& volume, std::span<const BlobId> unused) {
  if (unused.empty()) return {};
  STOA_TRY(free, unreachable(volume, unused));
  for (std::span<const BlobId> left = free; !left.empty();) {
    const std::size_t piece = piece_of(volume, left);
    STOA_ASSERT(piece > 0, "each piece frees a blob");
    STOA_CHECK_OK(free_piece(volume, left.first(piece)));
    left = left.subspan(piece);
  }
  return {};
}

Status collect(VolumeContext& volume, qos::BackgroundThrottle* throttle) {
  // The committer makes gc records when it writes the queue; from then on a scan sees them.
  STOA_CHECK_OK(volume.committer.wait_applied());
  const auto it = volume.kv.scan(Family::kGc, {}, {});
  while (it->valid()) {
    std::vector<BlobId> candidates;
    for (; it->valid() && candidates.size() < kReleasedAtOnce; it->next()) {
      const BlobId blob{keys::read_be64(it->key())};
      if (volume.data->pins->pinned(blob)) {
        volume.in_flight.garbage.store(true, std::memory_order_release);
        continue;
      }
      candidates.push_back(blob);
    }
    if (candidates.empty()) break;
    STOA_TRY(sorted, sort_out(volume, candidates));
    STOA_CHECK_OK(drop_candidates(volume, sorted.used));
    STOA_CHECK_OK(free_unused(volume, sorted.unused));
    if (throttle == nullptr) continue;
    throttle->spent(qos::Price{}.add(qos::Resource::kMetadataOps, candidates.size()));
    if (!throttle->stopped()) continue;
    volume.in_flight.garbage.store(true, std::memory_order_release);
    break;
  }
  return it->status();
}

}  // namespace

Status collect_garbage(VolumeContext& volume, qos::BackgroundThrottle* throttle) {
  if (!volume.data->adopted.load(std::memory_order_acquire)) return {};
  release_abandoned(volume);
  if (!volume.in_flight.garbage.exchange(false, std::memory_order_acq_rel)) return {};
  const Status done = collect(volume, throttle);
  if (!done) volume.in_flight.garbage.store(true, std::memory_order_release);  // the next round tries again
  return done;
}

}  // namespace stoa::core

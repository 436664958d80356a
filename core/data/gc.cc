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

Result<std::int64_t> references(KvReader& kv, BlobId blob) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kBlob, keys::be64(static_cast<std::uint64_t>(blob)), &value));
  if (!found) return 0;
  STOA_TRY(record, BlobRecord::decode(value));
  STOA_ASSERT(record.references >= 0);
  return record.references;
}

struct Candidates {
  std::vector<BlobId> unused, used;
};

// None of them was pinned just now. The walk that found them shows the past: a copy may have taken the content up
// since. It had the blob pinned until its commit was queued, so what was not pinned just now and was taken up is
// counted in a snapshot made now; and what nothing counts in it, nothing can take up any more.
Result<Candidates> sort_out(VolumeContext& volume, std::span<const BlobId> candidates) {
  const auto now = volume.kv.snapshot();
  Candidates sorted;
  for (const BlobId blob : candidates) {
    std::string value;
    STOA_TRY(still, now->get(Family::kGc, keys::be64(static_cast<std::uint64_t>(blob)), &value));
    if (!still) continue;
    STOA_TRY(count, references(*now, blob));
    (count == 0 ? sorted.unused : sorted.used).push_back(blob);
  }
  return sorted;
}

// Blobs that other files still use leave the queue. The last use may end between the look at the count and the removal,
// which then removed what that end has put: so the count is looked at again.
Status drop_candidates(VolumeContext& volume, std::span<const BlobId> used) {
  if (used.empty()) return {};
  RecordChanges dropped, back;
  for (const BlobId blob : used) dropped.remove_garbage(blob);
  STOA_CHECK_OK(volume.committer.commit({.batch = dropped.take()}));
  for (const BlobId blob : used) {
    STOA_TRY(count, references(volume.kv, blob));
    if (count == 0) back.mark_garbage(blob);
  }
  if (back.empty()) return {};
  volume.in_flight.garbage.store(true, std::memory_order_release);
  STOA_CHECK_OK(volume.committer.commit({.batch = back.take()}));
  return {};
}

// What is known of the blobs goes, and then their places are free. `durable`: their last uses have ended durably; else
// that is waited for.
Status free_unused(VolumeContext& volume, std::span<const BlobId> unused, CommitTicket ended, bool& durable) {
  if (unused.empty()) return {};
  // Nobody is left who writes to them; before the snapshot is made, so that it has what was stored of their sums.
  for (const BlobId blob : unused) volume.data->sums.forget(blob, volume.blobs.capacity(blob));
  const auto now = volume.kv.snapshot();
  RecordChanges done;
  for (const BlobId blob : unused) {
    STOA_CHECK_OK(stage_no_sums(*now, done, blob));
    done.remove_garbage(blob);
    done.remove_blob(blob);
    volume.in_flight.track(blob);  // for the verifier: nothing names it until it is released
  }
  // The removal of the name must be safe before the content goes.
  if (!durable) STOA_CHECK_OK(volume.committer.wait_durable(ended));
  durable = true;
  // The records go before the place is free: it may name another file's blob next, which an old record must not free
  // after a crash.
  STOA_CHECK_OK(volume.committer.commit({.batch = done.take()}));
  // Written, and not only queued: in one group with the next life of the place, the removal would come last.
  STOA_CHECK_OK(volume.committer.wait_applied());
  for (const BlobId blob : unused) {
    if (volume.blobs.capacity(blob) <= kSumRowBytes) volume.data->verified.forget(blob, 0);
    release(volume, blob);
  }
  return {};
}

}  // namespace

Status collect_garbage(VolumeContext& volume, qos::BackgroundThrottle* pace) {
  if (!volume.data->adopted.load(std::memory_order_acquire)) return {};
  release_abandoned(volume);
  if (!volume.in_flight.garbage.exchange(false, std::memory_order_acq_rel)) return {};
  // The committer makes gc records when it writes what is queued; from then on a walk sees them.
  STOA_CHECK_OK(volume.committer.wait_applied());
  const auto it = volume.kv.scan(Family::kGc, {}, {});
  const auto applied = volume.committer.applied();  // after the walk began: covers all that it sees
  bool durable = false;
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
    STOA_CHECK_OK(free_unused(volume, sorted.unused, applied, durable));
    if (pace == nullptr) continue;
    pace->spent(qos::Price{}.add(qos::Resource::kMetadataOps, candidates.size()));
    if (!pace->stopped()) continue;
    volume.in_flight.garbage.store(true, std::memory_order_release);
    break;
  }
  return it->status();
}

}  // namespace stoa::core

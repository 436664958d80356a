#include "core/data/gc.h"

#include "base/log.h"
#include "core/data/block_sums.h"
#include "core/data/data_state.h"
#include "core/kv/damaged_walk.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

constexpr std::size_t kReleasedAtOnce = 1024;

Status adopt_family(VolumeContext& volume, Family family) {
  const auto it = volume.kv.scan(family, {}, {});
  for (; it->valid(); it->next()) {
    const BlobId blob{keys::read_be64(it->key())};
    const Status adopted = volume.blobs.adopt(blob);
    if (adopted) continue;
    if (adopted.error().code != Errc::kCorrupt) return adopted;
    // One lost blob must not keep all others from being served; reading its file says kCorrupt, and so does check.
    log_error("data", "a blob is missing in the blob store",
              {{"blob", static_cast<std::uint64_t>(blob)}, {"error", describe(adopted.error())}});
  }
  return it->status();
}

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

}  // namespace

Status adopt_blobs(VolumeContext& volume) {
  for (const Family family : {Family::kBlob, Family::kGc}) STOA_CHECK_OK(adopt_family(volume, family));
  return volume.blobs.finish_adoption();
}

void adopt_readable(VolumeContext& volume) {
  for (const Family family : {Family::kBlob, Family::kGc}) {
    const auto it = volume.kv.scan(family, {}, {});
    std::string last;
    for (bool more = true; more;) {
      for (; it->valid(); it->next()) {
        last = it->key();
        // The verifier tells what the store does not hold.
        if (!volume.blobs.adopt(BlobId{keys::read_be64(last)})) continue;
      }
      const auto gap = it->status() ? std::nullopt : skip_damage(*it, last);
      more = gap && !gap->to.empty();
    }
  }
}

Status collect_garbage(VolumeContext& volume, qos::BackgroundThrottle* pace) {
  release_abandoned(volume);
  if (!volume.in_flight.garbage.exchange(false, std::memory_order_acq_rel)) return {};
  // The committer makes gc records when it writes what is queued; from then on a walk sees them.
  STOA_CHECK_OK(volume.committer.wait_applied());
  const auto it = volume.kv.scan(Family::kGc, {}, {});
  const auto applied = volume.committer.applied();  // after the walk began: covers all that it sees
  bool durable = false;
  while (it->valid()) {
    std::vector<BlobId> unused;
    for (; it->valid() && unused.size() < kReleasedAtOnce; it->next()) {
      const BlobId blob{keys::read_be64(it->key())};
      if (volume.data->pins->pinned(blob)) {
        volume.in_flight.garbage.store(true, std::memory_order_release);
        continue;
      }
      unused.push_back(blob);
    }
    if (unused.empty()) break;
    // Nobody is left who writes to them; before the snapshot is made, so that it has what was stored of their sums.
    for (const BlobId blob : unused) volume.data->sums.forget(blob, volume.blobs.capacity(blob));
    // The walk shows the past. A copy may have taken the content up since: it had the blob pinned until its commit was
    // queued, so what was not pinned just now and was taken up has no record in a snapshot made now.
    const auto now = volume.kv.snapshot();
    RecordChanges done;
    std::vector<BlobId> blobs;
    for (const BlobId blob : unused) {
      const std::string key = keys::be64(static_cast<std::uint64_t>(blob));
      std::string value;
      STOA_TRY(still, now->get(Family::kGc, key, &value));
      if (!still) continue;
      STOA_CHECK_OK(stage_no_sums(*now, done, blob));
      done.remove_garbage(blob);
      blobs.push_back(blob);
      volume.in_flight.track(blob);  // for the verifier: nothing names it until it is released
    }
    if (blobs.empty()) continue;
    // The removal of the name must be safe before the content goes.
    if (!durable) STOA_CHECK_OK(volume.committer.wait_durable(applied));
    durable = true;
    // The record goes before the place is free: it may name another file's blob next, which this record must not free
    // after a crash.
    STOA_CHECK_OK(volume.committer.commit({.batch = done.take()}));
    // Written, and not only queued: in one group with the next life of the place, the removal would come last.
    STOA_CHECK_OK(volume.committer.wait_applied());
    for (const BlobId blob : blobs) {
      if (volume.blobs.capacity(blob) <= kSumRowBytes) volume.data->verified.forget(blob, 0);
      release(volume, blob);
    }
    if (pace == nullptr) continue;
    pace->spent(qos::Price{}.add(qos::Resource::kMetadataOps, blobs.size()));
    if (!pace->stopped()) continue;
    volume.in_flight.garbage.store(true, std::memory_order_release);
    break;
  }
  return it->status();
}

}  // namespace stoa::core

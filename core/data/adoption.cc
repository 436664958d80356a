#include "core/data/adoption.h"

#include <array>

#include "base/log.h"
#include "core/blob/blob_record.h"
#include "core/data/data_state.h"
#include "core/kv/damaged_walk.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

constexpr std::size_t kAdoptedAtOnce = 4096;
constexpr std::array kAdoptedFamilies{Family::kBlob, Family::kGc};

}  // namespace

Adoption::Adoption(VolumeContext& volume, std::function<void()> finished)
    : volume_(volume),
      finished_(std::move(finished)),
      told_(volume.metrics.counter("stoa_blob_adopted_total",
                                   "Blobs that the blob store was told of since the start, to know which are in use")),
      running_(volume.metrics.gauge("stoa_blob_adoption_running",
                                    "1 while the blob store is told after a start which blobs are in use")) {
  if (!volume_.blobs.begin_adoption()) {
    volume_.data->adopted.store(true, std::memory_order_release);
    return;
  }
  then_ = volume_.kv.snapshot();
  running_.set(1);
}

Status Adoption::run(qos::BackgroundThrottle* throttle) {
  for (;;) {
    STOA_TRY(told, step());
    if (!told) return {};
    if (throttle == nullptr) continue;
    throttle->spent(qos::Price{}.add(qos::Resource::kMetadataOps, *told));
    if (throttle->stopped()) return {};
  }
}

Result<std::optional<std::size_t>> Adoption::step() {
  const std::lock_guard lock(mutex_);
  if (then_ == nullptr) return std::nullopt;
  if (family_ < kAdoptedFamilies.size()) {
    STOA_TRY(told, adopt_piece());
    return told;
  }
  STOA_CHECK_OK(volume_.blobs.finish_adoption());
  then_ = nullptr;
  running_.set(0);
  volume_.data->adopted.store(true, std::memory_order_release);
  finished_();
  return std::nullopt;
}

Result<std::size_t> Adoption::adopt_piece() {
  const Family family = kAdoptedFamilies[family_];
  const auto it = then_->scan(family, from_, {});
  RecordChanges forgotten;
  std::size_t told = 0;
  std::string last;
  for (; it->valid() && told < kAdoptedAtOnce; it->next(), ++told) {
    const BlobId blob{keys::read_be64(it->key())};
    last = it->key();
    // A crash between the steps of garbage collection leaves such: no file uses the blob, and the queue has it not.
    const auto record = family == Family::kBlob ? BlobRecord::decode(it->value()) : BlobRecord{1};
    if (record && record->references == 0) forgotten.mark_garbage(blob);
    const Status adopted = volume_.blobs.adopt(blob);
    if (adopted) continue;
    if (adopted.error().code != Errc::kCorrupt) return fail(adopted.error());
    // One lost blob must not keep all others from being served; reading its file returns kCorrupt, and check
    // reports it.
    log_error("data", "a blob is missing in the blob store",
              {{"blob", static_cast<std::uint64_t>(blob)}, {"error", describe(adopted.error())}});
  }
  if (!forgotten.empty()) STOA_CHECK_OK(volume_.committer.commit({.batch = forgotten.take()}));
  // Only now: a failed piece is adopted again.
  told_.add(told);
  if (told > 0) from_ = last + '\0';
  STOA_CHECK_OK(it->status());
  if (!it->valid()) {
    ++family_;
    from_.clear();
  }
  return told;
}

void adopt_readable(VolumeContext& volume) {
  for (const Family family : kAdoptedFamilies) {
    const auto it = volume.kv.scan(family, {}, {});
    std::string last;
    for (bool more = true; more;) {
      for (; it->valid(); it->next()) {
        last = it->key();
        // The verifier reports blobs that the store does not have.
        if (!volume.blobs.adopt(BlobId{keys::read_be64(last)})) continue;
      }
      const auto gap = it->status() ? std::nullopt : skip_damage(*it, last);
      more = gap && !gap->to.empty();
    }
  }
}

}  // namespace stoa::core

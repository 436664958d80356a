#include "core/volume/health.h"

#include "base/assert.h"
#include "base/reason.h"
#include "core/data/data_state.h"
#include "core/kv/keys.h"
#include "core/txn/operations.h"

namespace stoa::core {

std::vector<DamagedRange> damaged_ranges(VolumeContext& volume) {
  std::vector<DamagedRange> ranges;
  for (const DataState::Damage& damage : volume.data->damage()) {
    auto path = path_of(volume, {}, {damage.id});
    ranges.push_back({damage.id, path ? std::move(path->path) : std::string(), damage.offset, damage.length});
  }
  return ranges;
}

std::vector<Problem> Health::look() {
  probe();
  std::vector<Problem> found;
  add_metadata(found);
  add_content(found);
  return found;
}

void Health::probe() {
  std::unique_lock lock(mutex_);
  probed_.wait(lock, [this] { return !probing_; });
  if (volume_.time.steady() < fresh_until_) return;
  if (!others_became_durable(volume_.time.steady())) {
    probing_ = true;
    lock.unlock();
    WriteBatch batch;
    batch.put(Family::kConfig, keys::kHealthConfig, keys::be64(static_cast<std::uint64_t>(volume_.time.wall().ns)));
    Status done = volume_.committer.write_durably(batch);
    lock.lock();
    STOA_ASSERT(probing_, "one thread probes at a time");
    change_ = std::move(done);
    probing_ = false;
  }
  looked_ = volume_.time.steady();
  durable_ = volume_.committer.durable();
  fresh_until_ = *looked_ + kFresh;
  probed_.notify_all();
}

bool Health::others_became_durable(std::chrono::steady_clock::time_point now) {
  return change_ && looked_ && now - *looked_ <= kLately && volume_.committer.durable() != durable_;
}

void Health::add_metadata(std::vector<Problem>& found) const {
  const auto disk = volume_.kv.disk();
  const std::string path = disk ? disk->path : std::string();
  const Committer::Health commits = volume_.committer.health();
  if (commits.failed) {
    found.push_back({.kind = ProblemKind::kMetadataFailed, .path = path, .error = commits.error});
  } else if (commits.stalled || (!change_ && change_.error().code == Errc::kNoSpace)) {
    found.push_back({.kind = ProblemKind::kMetadataStalled, .path = path, .error = commits.error});
  } else if (!change_) {
    found.push_back({.kind = ProblemKind::kMetadataFailed, .path = path, .error = reason(change_.error())});
  } else if (disk && disk->low) {
    found.push_back({.kind = ProblemKind::kMetadataFull, .path = path});
  }
}

void Health::add_content(std::vector<Problem>& found) const {
  for (const BlobStore::DirectoryHealth& directory : volume_.blobs.health()) {
    if (directory.ok) continue;
    found.push_back({.kind = ProblemKind::kBlobDirectory, .path = directory.path, .error = directory.problem});
  }
  std::vector<DamagedRange> damage = damaged_ranges(volume_);
  if (!damage.empty()) found.push_back({.kind = ProblemKind::kDamage, .damage = std::move(damage)});
}

}  // namespace stoa::core

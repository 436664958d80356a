#include "core/volume/health.h"

#include "base/assert.h"
#include "base/reason.h"
#include "core/data/gc.h"
#include "core/kv/keys.h"

namespace stoa::core {

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
    found.push_back({.kind = ProblemKind::kMetadataFailed,
                     .text = "the metadata cannot be written: " + commits.error,
                     .path = path});
    return;
  }
  if (commits.stalled || (!change_ && change_.error().code == Errc::kNoSpace)) {
    found.push_back({.kind = ProblemKind::kMetadataStalled,
                     .text = "changes of the metadata wait for room" +
                             (commits.error.empty() ? std::string() : ": " + commits.error),
                     .path = path});
  } else if (!change_) {
    found.push_back({.kind = ProblemKind::kMetadataFailed,
                     .text = "a change of the metadata does not become durable: " + reason(change_.error()),
                     .path = path});
  } else if (disk && disk->low) {
    found.push_back({.kind = ProblemKind::kMetadataFull,
                     .text = "the disk of the metadata is full: removals work, nothing may grow",
                     .path = path});
  }
}

void Health::add_content(std::vector<Problem>& found) const {
  for (const BlobStore::DirectoryHealth& directory : volume_.blobs.health()) {
    if (directory.ok) continue;
    found.push_back({.kind = ProblemKind::kBlobDirectory,
                     .text = "a blob directory does not work: " + directory.problem,
                     .path = directory.path});
  }
  const std::vector<std::string> damaged = damage_found(volume_);
  if (damaged.empty()) return;
  found.push_back(
      {.kind = ProblemKind::kDamage,
       .text = "content is damaged: " + damaged.front() +
               (damaged.size() > 1 ? ", and " + std::to_string(damaged.size() - 1) + " more" : std::string())});
}

}  // namespace stoa::core

#include <bit>

#include "base/crc32c.h"
#include "base/log.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/flush.h"
#include "core/data/gc.h"
#include "core/data/sum_change.h"
#include "core/data/verify.h"
#include "core/kv/keys.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

constexpr std::size_t kFilesAtOnce = 64;  // files looked at in one round

// Limits background reading to this many bytes a second, and gives way to requests.
class Reading {
 public:
  Reading(std::uint64_t bytes_per_second, qos::BackgroundThrottle* throttle)
      : rate_(static_cast<double>(bytes_per_second)),
        throttle_(throttle),
        begin_(throttle != nullptr ? throttle->now() : 0) {}
  bool stopped() const { return throttle_ != nullptr && throttle_->stopped(); }
  void spent(std::uint64_t bytes) {
    if (throttle_ == nullptr) return;
    throttle_->spent(qos::Price::read(bytes));
    total_ += static_cast<double>(bytes);
    if (rate_ > 0) throttle_->rest_until(begin_ + static_cast<std::int64_t>(total_ / rate_ * 1e9));
  }

 private:
  const double rate_;
  qos::BackgroundThrottle* const throttle_;
  const std::int64_t begin_;
  double total_ = 0;
};

// Sums the unknown blocks of one row. Whether the store has the sums of all `bytes` bytes of the row afterwards.
Result<bool> record_row(VolumeContext& volume, BlobId blob, std::uint64_t number, std::uint64_t content_end,
                        std::uint64_t bytes, Reading& reading) {
  STOA_TRY(row, volume.data->sums.find(volume.kv, blob, number, {false, content_end}));
  const std::uint64_t wanted = block_bits(0, (bytes - 1) / kSumBlockBytes);
  std::uint64_t unknown = 0;
  {
    const std::lock_guard lock(row->mutex);
    unknown = ~row->known & wanted;
  }
  HeldBlocks held(row, unknown);
  STOA_CHECK_OK(held.hold({}));
  std::array<std::uint32_t, kSumRowBlocks> sums{};
  std::vector<std::byte> buffer(kSumBlockBytes);
  for (std::uint64_t some = unknown; some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    STOA_CHECK_OK(verify_stored_part(volume, *row, block));  // readers report damage; it is not sealed
    const auto covered = std::span(buffer).first(row->lengths[block]);
    STOA_CHECK_OK(volume.blobs.read(blob, row->begin() + block * kSumBlockBytes, covered));
    sums[block] = crc32c(covered);
    reading.spent(covered.size());
  }
  STOA_CHECK_OK(volume.blobs.sync(std::span(&blob, 1)));  // a write that failed may have left bytes in memory
  held.release();
  const std::lock_guard lock(row->mutex);
  for (std::uint64_t some = unknown & ~row->known & ~row->busy & ~row->unsynced; some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    row->sums[block] = sums[block];
    row->known |= std::uint64_t{1} << block;
  }
  // Bytes never written up to the end of the file are zeros, and covered from now on.
  for (std::uint64_t some = wanted & row->known & ~row->busy & ~row->unsynced; some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    const auto length = static_cast<std::uint32_t>(std::min(kSumBlockBytes, bytes - block * kSumBlockBytes));
    if (row->lengths[block] >= length) continue;
    row->sums[block] = crc32c_zeros(row->sums[block], length - row->lengths[block]);
    row->lengths[block] = length;
    if (!row->staged) row->stored &= ~(std::uint64_t{1} << block);
  }
  if (!row->staged) STOA_CHECK_OK(store_sums(volume, *row));
  return (row->stored & wanted) == wanted;
}

// The same of all that a file uses of a blob. Rows where nothing was ever written have no sums.
Result<bool> record_sums_of_blob(VolumeContext& volume, BlobId blob, std::uint64_t content_end, Reading& reading) {
  bool whole = true;
  for (std::uint64_t begin = 0; begin < content_end && !reading.stopped(); begin += kSumRowBytes) {
    const std::uint64_t number = begin / kSumRowBytes;
    const std::uint64_t bytes = std::min(kSumRowBytes, content_end - begin);
    STOA_TRY(stored, load_sum_row(volume.kv, blob, number));
    if (stored && stored->bytes >= bytes && (~stored->known & block_bits(0, (bytes - 1) / kSumBlockBytes)) == 0)
      continue;
    if (!stored) {
      STOA_TRY(data, volume.blobs.seek(blob, begin, content_end, true));
      if (data >= begin + bytes) {
        begin = data / kSumRowBytes * kSumRowBytes - kSumRowBytes;
        if (data >= content_end) break;
        continue;
      }
    }
    STOA_TRY(recorded, record_row(volume, blob, number, content_end, bytes, reading));
    whole = whole && recorded;
  }
  return whole && !reading.stopped();
}

// Records the checksums that a quiet file does not have: a crash came while it was written, or it is from before there
// were any.
Status record_sums_of_file(VolumeContext& volume, FileId id, Reading& reading, Timestamp now, std::int64_t quiet_ns) {
  const auto node = volume.nodes.get(id);
  if (!node && node.error().code == Errc::kStale) {
    // The file went when it had no content any more (drop_content looks for the mark only of files that have some).
    RecordChanges done;
    done.remove_open_mark(id);
    STOA_CHECK_OK(volume.committer.commit({.batch = done.take()}));
    return {};
  }
  STOA_CHECK_OK(node);
  STOA_CHECK_OK(flush_file(volume, {}, *node));
  std::uint64_t version = 0;
  std::map<BlobId, std::uint64_t> used;
  BlobPins::Hold hold;
  {
    const std::shared_lock lock((*node)->lock);
    const Inode& record = (*node)->record;
    if ((*node)->deleted || (*node)->writing != nullptr) return {};
    if (now.ns - record.ctime.ns < quiet_ns) return {};
    // Bytes behind the end, which no sum covers: the next start has to know of them.
    if (record.size == 0 && !record.layout.empty()) return {};
    version = record.data_version;
    const auto pieces = record.layout.map(0, record.size);
    for (const Piece& piece : pieces) {
      // The file that wrote shared bytes keeps their sums.
      if (!piece.hole() && !piece.shared)
        used[piece.blob] = std::max(used[piece.blob], piece.blob_offset + piece.length);
    }
    hold = BlobPins::hold(volume.data->pins, pieces);
  }
  for (const auto& [blob, bytes] : used) {
    STOA_TRY(recorded, record_sums_of_blob(volume, blob, bytes, reading));
    if (!recorded) return {};
  }
  // Writers hold the gate shared until their change of version is visible: with it held exclusively, no write is in
  // progress.
  const std::unique_lock gate((*node)->data_gate, std::try_to_lock);
  if (!gate.owns_lock()) return {};
  const OpContext ctx;
  const std::shared_lock tree_lock(volume.tree_lock);
  STOA_TRY(locks, NodeLocks::take(ctx, {*node}));
  if ((*node)->deleted || (*node)->writing != nullptr || (*node)->record.data_version != version) return {};
  MetaTxn txn(volume, ctx);
  Inode next = (*node)->record;
  if (!used.empty()) next.flags |= kChecksummed;
  txn.records().remove_open_mark(id);
  txn.put_inode(*node, std::move(next), Visible::kNo);
  STOA_CHECK_OK(txn.commit());
  (*node)->marked_dirty = false;
  volume.data->recorded_files.add();
  return {};
}

}  // namespace

Status record_sums_of_quiet_files(VolumeContext& volume, std::int64_t quiet_ns, qos::BackgroundThrottle* throttle) {
  Reading reading(volume.options.scrub_bytes_per_second, throttle);
  STOA_CHECK_OK(store_quiet_sums(volume, quiet_ns == 0));
  const std::string prefix(keys::kOpenPrefix);
  std::string from = prefix;
  for (bool more = true; more && !reading.stopped();) {
    std::vector<FileId> files;
    {
      const auto it = volume.kv.scan(Family::kState, from, keys::behind_prefix(prefix));
      for (; it->valid() && files.size() < kFilesAtOnce; it->next()) {
        files.push_back(keys::open_file_of(it->key()));
        from = std::string(it->key()) + '\0';
      }
      STOA_CHECK_OK(it->status());
      more = it->valid();
    }
    for (const FileId id : files) {
      if (reading.stopped()) break;
      if (const Status recorded = record_sums_of_file(volume, id, reading, volume.time.wall(), quiet_ns); !recorded) {
        log_warning("data", "checksums of a file could not be recorded",
                    {{"inode", static_cast<std::uint64_t>(id)}, {"error", describe(recorded.error())}});
      }
    }
  }
  return {};
}

Status scrub_all(VolumeContext& volume, qos::BackgroundThrottle* throttle) {
  Reading reading(volume.options.scrub_bytes_per_second, throttle);
  const auto it = volume.kv.scan(Family::kInode, {}, {});
  for (; it->valid() && !reading.stopped(); it->next()) {
    const FileId id = keys::id_of(it->key());
    const auto seen = Inode::decode(id, it->value());
    if (!seen || seen->type != FileType::kRegular) continue;
    if (!seen->has(kContentInline) && seen->layout.empty()) continue;
    // The scan sees the past; the file is checked in its present state.
    const auto node = volume.nodes.get(id);
    if (!node && node.error().code == Errc::kStale) continue;  // removed since
    if (!node) {
      log_warning("data", "a file could not be verified",
                  {{"inode", static_cast<std::uint64_t>(id)}, {"error", describe(node.error())}});
      continue;
    }
    verify_file(volume, *node, [&](std::uint64_t bytes) {
      reading.spent(bytes);
      return !reading.stopped();
    });
  }
  return it->status();
}

void tell_damage(VolumeContext& volume) {
  std::map<FileId, std::uint64_t> bytes;
  for (const DataState::Damage& damage : volume.data->take_new_damage()) bytes[damage.id] += damage.length;
  for (const auto& [id, count] : bytes) {
    auto path = path_of(volume, {}, {id});
    volume.events.add(Severity::kCritical, EventKind::kDamage, path ? std::move(path->path) : std::string(),
                      {std::to_string(static_cast<std::uint64_t>(id)), std::to_string(count)});
  }
}

}  // namespace stoa::core

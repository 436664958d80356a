#include "core/data/live_sums.h"

#include <bit>
#include <chrono>

#include "base/assert.h"
#include "base/crc32c.h"
#include "core/data/data_state.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

std::int64_t sum_clock_ns(const VolumeContext& volume) {
  return volume.time.steady().time_since_epoch().count();
}

std::uint64_t LiveRow::storable(std::uint64_t synced) const {
  std::size_t last = kSumRowBlocks;
  while (last > 0 && lengths[last - 1] == 0) --last;
  if (last == 0) return 0;
  --last;
  std::uint64_t blocks = known & (~unsynced | synced) & ~overwriting & block_bits(0, last);
  // While a writer appends to a block, only its stored sum may stay as it is.
  for (std::uint64_t some = blocks & busy; some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    const std::uint64_t bit = std::uint64_t{1} << block;
    const bool same = (stored & ~unsynced & bit) != 0 && (block == last || lengths[block] == kSumBlockBytes);
    if (!same) blocks &= ~bit;
  }
  return blocks;
}

SumRow LiveRow::record(std::uint64_t blocks) {
  STOA_ASSERT((blocks & ~known) == 0, "only sums that are known are stored");
  SumRow row;
  std::size_t last = kSumRowBlocks;
  while (last > 0 && lengths[last - 1] == 0) --last;
  if (last == 0) return row;
  --last;
  row.bytes = last * kSumBlockBytes + lengths[last];
  row.known = blocks;
  for (; blocks != 0; blocks &= blocks - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(blocks));
    if (block < last && lengths[block] < kSumBlockBytes) {
      sums[block] = crc32c_zeros(sums[block], kSumBlockBytes - lengths[block]);
      lengths[block] = kSumBlockBytes;
    }
    row.sums[block] = sums[block];
  }
  return row;
}

namespace {

void fill(LiveRow& row, const std::optional<SumRow>& found, const LiveSums::Origin& origin) {
  if (found) {
    for (std::size_t i = 0; i < found->blocks(); ++i) {
      row.lengths[i] = static_cast<std::uint32_t>(found->covered(i));
      if ((found->known >> i & 1) == 0) row.known &= ~(std::uint64_t{1} << i);
    }
    row.sums = found->sums;
    row.stored = found->known;
  } else if (origin.fresh) {
    return;
  }
  if (origin.content_end <= row.begin()) return;
  // Content that no sum was recorded of: a crash came first, or it is from before there were any.
  const SumRow content{.bytes = std::min(origin.content_end - row.begin(), kSumRowBytes)};
  for (std::size_t i = 0; i < content.blocks(); ++i) {
    if (row.lengths[i] >= content.covered(i)) continue;
    row.lengths[i] = static_cast<std::uint32_t>(content.covered(i));
    row.known &= ~(std::uint64_t{1} << i);
  }
}

}  // namespace

Result<LiveRowRef> LiveSums::find(KvReader& kv, BlobId blob, std::uint64_t number, const Origin& origin) {
  const Key key{blob, number};
  Shard& shard = shard_of(key);
  LiveRowRef row;
  {
    const std::lock_guard lock(shard.mutex);
    LiveRowRef& known = shard.rows[key];
    if (known == nullptr) {
      known = std::make_shared<LiveRow>(blob, number);
      row = known;  // before eviction, so that it counts as used
      shard.ring.push_back(key);
      size_.fetch_add(1, std::memory_order_relaxed);
      evict_some(shard);
    } else {
      row = known;
    }
  }
  const std::lock_guard lock(row->mutex);
  if (row->loaded) return row;
  STOA_TRY(found, load_sum_row(kv, blob, number));
  fill(*row, found, origin);
  row->loaded = true;
  return row;
}

LiveRowRef LiveSums::peek(BlobId blob, std::uint64_t number) {
  const Key key{blob, number};
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto it = shard.rows.find(key);
  return it != shard.rows.end() ? it->second : nullptr;
}

void LiveSums::forget_row(BlobId blob, std::uint64_t number) {
  const Key key{blob, number};
  Shard& shard = shard_of(key);
  LiveRowRef row;
  {
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.rows.find(key);
    if (it == shard.rows.end()) return;
    row = std::move(it->second);
    shard.rows.erase(it);
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
  const std::lock_guard lock(row->mutex);
  row->gone = true;
}

void LiveSums::forget(BlobId blob, std::uint64_t capacity) {
  if (capacity <= kSumRowBytes) return forget_row(blob, 0);
  for (Shard& shard : shards_) {
    std::vector<std::uint64_t> rows;
    {
      const std::lock_guard lock(shard.mutex);
      for (const auto& [key, row] : shard.rows) {
        if (key.blob == blob) rows.push_back(key.number);
      }
    }
    for (const std::uint64_t number : rows) forget_row(blob, number);
  }
}

void LiveSums::evict_some(Shard& shard) {
  constexpr int kStepsMax = 8;  // keeps one look-up cheap when all are in use
  for (int step = 0; step < kStepsMax && shard.ring.size() > kLiveRowsMax / kShards; ++step) {
    if (shard.hand >= shard.ring.size()) shard.hand = 0;
    const auto it = shard.rows.find(shard.ring[shard.hand]);
    bool drop = it == shard.rows.end();
    // use_count 1: no other thread has it, and none can get it without this shard's mutex.
    if (!drop && it->second.use_count() == 1) {
      LiveRow& row = *it->second;
      const std::unique_lock lock(row.mutex, std::try_to_lock);
      drop = lock.owns_lock() && row.busy == 0 && row.unsynced == 0 && !row.staged && !row.waits_for_quiet;
    }
    if (!drop) {
      ++shard.hand;
      continue;
    }
    if (it != shard.rows.end()) {
      shard.rows.erase(it);
      size_.fetch_sub(1, std::memory_order_relaxed);
    }
    shard.ring[shard.hand] = shard.ring.back();
    shard.ring.pop_back();
  }
}

void LiveSums::wait_for_quiet(const LiveRowRef& row) {
  if (row->waits_for_quiet) return;
  row->waits_for_quiet = true;
  const std::lock_guard lock(waiting_mutex_);
  waiting_.push_back(row);
}

std::vector<LiveRowRef> LiveSums::take_waiting() {
  const std::lock_guard lock(waiting_mutex_);
  return std::exchange(waiting_, {});
}

namespace {

void put_record(RecordChanges& changes, LiveRow& row, std::uint64_t blocks) {
  const SumRow record = row.record(blocks);
  if (record.bytes == 0) {
    changes.remove_sum_row(row.blob, row.number);
  } else {
    changes.put_sum_row(row.blob, row.number, record.encode());
  }
}

}  // namespace

void StagedSums::stage(RecordChanges& changes, Writing& writing, const Layout& layout, std::uint64_t synced) {
  std::erase_if(writing.rows, [&](const LiveRowRef& row) {
    const std::lock_guard lock(row->mutex);
    if (row->gone || row->unsynced == 0) return true;
    const bool named =
        std::ranges::any_of(layout.extents, [&](const Extent& extent) { return extent.blob == row->blob; });
    if (!named) return false;
    std::uint64_t done = 0;
    for (std::uint64_t some = row->unsynced & ~row->busy; some != 0; some &= some - 1) {
      const auto block = static_cast<std::size_t>(std::countr_zero(some));
      if (static_cast<std::int32_t>(row->last_write[block] - static_cast<std::uint32_t>(synced)) <= 0)
        done |= std::uint64_t{1} << block;
    }
    if (done == 0) return false;
    if (row->hot) {
      row->unsynced &= ~done;
      volume_.data->sums.wait_for_quiet(row);
      return row->unsynced == 0;
    }
    const std::uint64_t blocks = row->storable(done);
    put_record(changes, *row, blocks);
    STOA_ASSERT(!row->staged, "one change stages a row at a time");
    row->staged = true;
    items_.push_back({row, done, blocks});
    return false;
  });
}

void StagedSums::committed(CommitTicket ticket) {
  for (const Item& item : items_) {
    LiveRow& row = *item.row;
    const std::lock_guard lock(row.mutex);
    if ((row.stored & ~item.stored) != 0) {
      row.dropped = ticket;
      volume_.data->sums.wait_for_quiet(item.row);
    }
    row.stored = item.stored;
    row.unsynced &= ~item.synced;
  }
}

StagedSums::~StagedSums() {
  for (const Item& item : items_) {
    const std::lock_guard lock(item.row->mutex);
    item.row->staged = false;
    item.row->changed.notify_all();
  }
}

Result<CommitTicket> take_sums_from_store(VolumeContext& volume, FileId file, const LiveRowRef& row,
                                          std::uint64_t blocks, const Deadline& by) {
  const std::uint64_t kept = row->storable(0) & row->stored & ~row->unsynced & ~blocks;
  RecordChanges changes;
  put_record(changes, *row, kept);
  // After a crash the blocks are summed anew, which is done for files that are listed as open.
  changes.mark_dirty(file);
  STOA_TRY(ticket, volume.committer.commit({.batch = changes.take()}, by));
  row->stored = kept;
  row->dropped = ticket;
  volume.data->sums.wait_for_quiet(row);
  return ticket;
}

Status store_sums(VolumeContext& volume, LiveRow& row) {
  const std::uint64_t blocks = row.storable(0);
  if (blocks == row.stored) return {};
  RecordChanges changes;
  put_record(changes, row, blocks);
  // Under the row's lock: another writer's removal of stored sums comes behind it.
  STOA_CHECK_OK(volume.committer.commit({.batch = changes.take()}));
  row.stored = blocks;
  return {};
}

Status store_quiet_sums(VolumeContext& volume, bool all) {
  const std::int64_t now = sum_clock_ns(volume);
  Status result;
  for (const LiveRowRef& row : volume.data->sums.take_waiting()) {
    const std::lock_guard lock(row->mutex);
    row->waits_for_quiet = false;
    if (row->gone) continue;
    const bool quiet = row->busy == 0 && row->unsynced == 0 && !row->staged;
    if (!quiet || (!all && now - row->touched_at < kQuietRowNs)) {
      volume.data->sums.wait_for_quiet(row);
      continue;
    }
    row->hot = false;
    if (Status stored = store_sums(volume, *row); !stored) {
      volume.data->sums.wait_for_quiet(row);
      result = std::move(stored);
    }
  }
  return result;
}

}  // namespace stoa::core

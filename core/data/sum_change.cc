#include "core/data/sum_change.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/crc32c.h"
#include "core/data/data_state.h"
#include "core/data/verify.h"

namespace stoa::core {
namespace {

constexpr std::int64_t kOftenNs = 10'000'000'000;  // overwritten again so soon: the row is hot

std::uint64_t bit_of(std::size_t block) {
  return std::uint64_t{1} << block;
}

// The next bytes of a request, in order.
class Bytes {
 public:
  explicit Bytes(ConstBuffers data) : data_(data) {}
  std::uint32_t sum(std::uint64_t count, std::uint32_t crc) {
    while (count > 0) {
      const auto part = data_[next_].subspan(skip_, std::min<std::uint64_t>(count, data_[next_].size() - skip_));
      crc = crc32c(part, crc);
      count -= part.size();
      skip_ += part.size();
      if (skip_ == data_[next_].size()) ++next_, skip_ = 0;
    }
    return crc;
  }

 private:
  const ConstBuffers data_;
  std::size_t next_ = 0;
  std::size_t skip_ = 0;
};

}  // namespace

Status HeldBlocks::hold(const Deadline& by) {
  STOA_ASSERT(!held_, "blocks are held once");
  std::unique_lock lock(row_->mutex);
  while ((row_->busy & blocks_) != 0 || row_->staged) {
    if (!by.wait(row_->changed, lock)) return fail(Errc::kTimeout, "others were in the blocks until the deadline");
  }
  row_->busy |= blocks_;
  held_ = true;
  return {};
}

void HeldBlocks::release() {
  if (!std::exchange(held_, false)) return;
  const std::lock_guard lock(row_->mutex);
  STOA_ASSERT((row_->busy & blocks_) == blocks_, "blocks that are held are busy");
  row_->busy &= ~blocks_;
  row_->overwriting &= ~blocks_;
  row_->changed.notify_all();
}

Result<std::vector<std::byte>> read_verified(const VolumeView& volume, LiveRow& row, std::size_t block) {
  std::vector<std::byte> bytes(row.lengths[block]);
  STOA_CHECK_OK(volume.blobs.read(row.blob, row.begin() + block * kSumBlockBytes, bytes));
  volume.data->verified_bytes.add(bytes.size());
  if (crc32c(bytes) != row.sums[block]) return fail(Cause::kContentDamaged);
  const std::lock_guard lock(row.mutex);
  row.trusted |= bit_of(block);
  return bytes;
}

Status verify_stored_part(const VolumeView& volume, LiveRow& row, std::size_t block) {
  {
    const std::lock_guard lock(row.mutex);
    if ((row.stored & bit_of(block)) == 0) return {};
  }
  STOA_TRY(stored, load_sum_row(volume.kv, row.blob, row.number));
  if (!stored || (stored->known & bit_of(block)) == 0) return {};
  std::vector<std::byte> bytes(stored->covered(block));
  STOA_CHECK_OK(volume.blobs.read(row.blob, row.begin() + block * kSumBlockBytes, bytes));
  if (crc32c(bytes) == stored->sums[block]) return {};
  return fail(Cause::kContentDamaged);
}

SumChange::~SumChange() {
  if (!changing_ || published_) return;
  // Some of the bytes may have been written. An append behind covered bytes changed nothing that is covered.
  for (const Part& part : parts_) {
    if (!part.overwrites) continue;
    LiveRow& row = held_[part.held].row();
    const std::lock_guard lock(row.mutex);
    row.known &= ~bit_of(part.block);
    volume_.data->verified.forget(row.blob, row.number, bit_of(part.block));
  }
}

Status SumChange::begin(std::span<const SumRange> ranges, ConstBuffers data) {
  STOA_CHECK_OK(hold(ranges));
  STOA_CHECK_OK(verify_partial());
  STOA_CHECK_OK(sum(data));
  return take_from_store();
}

Status SumChange::hold(std::span<const SumRange> ranges) {
  several_ranges_ = ranges.size() > 1;
  for (const SumRange& range : ranges) {
    LiveSums::Origin of_blob = range.origin;
    of_blob.content_end =
        std::min(of_blob.content_end, volume_.blobs.capacity(range.blob));  // the rest of the file is in others
    const std::uint64_t end = range.offset + range.length;
    for (std::uint64_t at = range.offset; at < end;) {
      const std::uint64_t number = at / kSumRowBytes;
      const auto same_row = [&](const HeldBlocks& held) {
        return held.row().blob == range.blob && held.row().number == number;
      };
      auto it = held_.empty() || !same_row(held_.back()) ? std::ranges::find_if(held_, same_row) : held_.end() - 1;
      if (it == held_.end()) {
        LiveSums::Origin origin = of_blob;
        const std::uint64_t begin = number * kSumRowBytes,
                            content_end = std::min(begin + kSumRowBytes, origin.content_end);
        if (!origin.fresh && begin < content_end && volume_.data->sums.peek(range.blob, number) == nullptr) {
          // Bytes never written are zeros, which need no reading.
          STOA_TRY(data, volume_.blobs.seek(range.blob, begin, content_end, true));
          origin.fresh = data >= content_end;
        }
        STOA_TRY(row, volume_.data->sums.find(volume_.kv, range.blob, number, origin));
        held_.emplace_back(std::move(row), 0);
        content_ends_.push_back(of_blob.fresh ? 0 : of_blob.content_end);
        it = held_.end() - 1;
      }
      const std::size_t block = at % kSumRowBytes / kSumBlockBytes;
      const std::uint64_t from = at % kSumBlockBytes;
      const std::uint64_t to = std::min(kSumBlockBytes, from + (end - at));
      it->add(bit_of(block));
      const std::uint64_t ahead = at - range.offset;
      parts_.push_back({.held = static_cast<std::size_t>(it - held_.begin()),
                        .block = block,
                        .from = static_cast<std::uint32_t>(from),
                        .to = static_cast<std::uint32_t>(to),
                        .file_offset = range.file_offset + ahead - std::min(from, range.file_offset + ahead)});
      at += to - from;
    }
  }
  order_.resize(held_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::ranges::sort(order_, {}, [&](std::size_t i) { return std::pair(held_[i].row().blob, held_[i].row().number); });
  for (const std::size_t i : order_) STOA_CHECK_OK(held_[i].hold(by_));
  for (Part& part : parts_) {
    LiveRow& row = held_[part.held].row();
    part.overwrites = part.from < row.lengths[part.block];
    part.length = std::max(row.lengths[part.block], part.to);
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    LiveRow& row = held_[i].row();
    const std::lock_guard lock(row.mutex);
    row.touched_at = sum_clock_ns(volume_);
    for (Part& part : parts_) {
      if (part.held != i) continue;
      if (part.overwrites) row.overwriting |= bit_of(part.block);
      part.unknown = (row.known & bit_of(part.block)) == 0;
    }
  }
  return {};
}

// Existing damage must not be sealed with the bytes that are written beside it.
Status SumChange::verify_partial() {
  for (const Part& part : parts_) {
    LiveRow& row = held_[part.held].row();
    const bool whole = part.from == 0 && part.to >= row.lengths[part.block];
    if (!part.overwrites || whole) continue;
    Status sound;
    if (part.unknown) {
      sound = verify_stored_part(volume_, row, part.block);
    } else {
      {
        const std::lock_guard lock(row.mutex);
        if ((row.trusted & bit_of(part.block)) != 0) continue;
      }
      if (const auto read = read_verified(volume_, row, part.block); !read) sound = fail(read.error());
    }
    if (!sound && sound.error().code == Errc::kCorrupt)
      report_damage(volume_, file_, part.file_offset, row.lengths[part.block]);
    STOA_CHECK_OK(sound);
  }
  return {};
}

Status SumChange::sum(ConstBuffers data) {
  Bytes bytes(data);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const LiveRow& row = held_[part.held].row();
    std::uint32_t old = row.sums[part.block];
    std::uint32_t covered = row.lengths[part.block];
    // Two pieces of a file may lie in one block.
    for (std::size_t earlier = 0; several_ranges_ && earlier < i; ++earlier) {
      if (parts_[earlier].held != part.held || parts_[earlier].block != part.block) continue;
      old = parts_[earlier].sum;
      covered = parts_[earlier].length;
      part.unknown = parts_[earlier].unknown;
      part.length = std::max(part.to, covered);
    }
    if (part.from == 0 && part.to >= covered) {
      part.sum = bytes.sum(part.to, 0);
      part.unknown = false;
    } else if (part.unknown) {
      (void)bytes.sum(part.to - part.from, 0);
    } else if (part.from >= covered) {
      part.sum = bytes.sum(part.to - part.from, crc32c_zeros(old, part.from - covered));
    } else {
      // The sum of the rest stays: only the effect of these bytes is added. So damage elsewhere in the block is still
      // found.
      const std::uint32_t end = std::min(part.to, covered);
      std::vector<std::byte> before(end - part.from);
      STOA_CHECK_OK(volume_.blobs.read(row.blob, row.begin() + part.block * kSumBlockBytes + part.from, before));
      const std::uint32_t difference = crc32c(before) ^ bytes.sum(end - part.from, 0);
      part.sum = crc32c_join(difference, old, covered - end);
      if (part.to > end) part.sum = bytes.sum(part.to - end, part.sum);
    }
  }
  return {};
}

// Durable before the first byte changes: else a crash would leave sums of other bytes.
Status SumChange::take_from_store() {
  const std::int64_t now = sum_clock_ns(volume_);
  CommitTicket newest{};
  for (const std::size_t i : order_) {
    const LiveRowRef& row = held_[i].ref();
    unsigned run = 0;  // of the row before this one: the file is being overwritten in order
    if (row->number > 0) {
      if (const LiveRowRef before = volume_.data->sums.peek(row->blob, row->number - 1); before != nullptr) {
        const std::lock_guard lock(before->mutex);
        if (before->dropped_at != 0 && now - before->dropped_at < kOftenNs) run = before->run;
      }
    }
    unsigned ahead = 0;
    {
      std::unique_lock lock(row->mutex);
      while (row->staged) {
        if (!by_.wait(row->changed, lock)) return fail(Errc::kTimeout, "sums were on their way until the deadline");
      }
      const std::uint64_t changes = row->overwriting & held_[i].blocks();
      if (changes == 0) continue;
      if ((row->stored & changes) != 0) {
        const bool again = row->dropped_at != 0 && now - row->dropped_at < kOftenNs;
        row->hot = again || run > 0;
        row->run = run > 0 ? std::min(run * 2, kRowsAheadMax) : again ? 1 : 0;
        row->dropped_at = now;
        STOA_CHECK_OK(take_sums_from_store(volume_, file_, row, row->hot ? ~std::uint64_t{0} : changes, by_));
        ahead = row->run;
      }
      newest = std::max(newest, row->dropped);
    }
    for (std::uint64_t number = row->number + 1;
         number < row->number + ahead && number * kSumRowBytes < content_ends_[i]; ++number) {
      STOA_TRY(next, volume_.data->sums.find(volume_.kv, row->blob, number, {false, content_ends_[i]}));
      const std::lock_guard lock(next->mutex);
      if (next->staged || next->stored == 0) continue;
      next->hot = true;
      next->run = ahead;
      next->dropped_at = next->touched_at = now;
      STOA_TRY(ticket, take_sums_from_store(volume_, file_, next, ~std::uint64_t{0}, by_));
      newest = std::max(newest, ticket);
    }
  }
  return newest == CommitTicket{} ? Status{} : volume_.committer.wait_durable(newest, by_);
}

Status SumChange::written() {
  for (Part& part : parts_) {
    if (!part.unknown) continue;
    const LiveRow& row = held_[part.held].row();
    std::vector<std::byte> bytes(part.length);
    STOA_CHECK_OK(volume_.blobs.read(row.blob, row.begin() + part.block * kSumBlockBytes, bytes));
    part.sum = crc32c(bytes);
  }
  return {};
}

void SumChange::publish(Writing& writing, std::uint64_t write) {
  STOA_ASSERT(!published_, "sums of a write are published once");
  published_ = true;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    LiveRow& row = held_[i].row();
    {
      const std::lock_guard lock(row.mutex);
      for (const Part& part : parts_) {
        if (part.held != i) continue;
        row.sums[part.block] = part.sum;
        row.lengths[part.block] = part.length;
        row.last_write[part.block] = static_cast<std::uint32_t>(write);
      }
      row.known |= held_[i].blocks();
      row.trusted |= held_[i].blocks();
      row.unsynced |= held_[i].blocks();
      row.touched_at = sum_clock_ns(volume_);
      volume_.data->verified.forget(row.blob, row.number, held_[i].blocks());
    }
    if (std::ranges::find(writing.rows, held_[i].ref()) == writing.rows.end()) writing.rows.push_back(held_[i].ref());
    held_[i].release();
  }
}

}  // namespace stoa::core

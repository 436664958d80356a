#include "core/data/zero.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/crc32c.h"
#include "core/data/data_state.h"
#include "core/data/sum_change.h"
#include "core/data/verify.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

// A row that keeps some of its bytes.
struct Edge {
  HeldBlocks held;
  std::array<std::uint32_t, kSumRowBlocks> sums{};
  std::array<std::uint32_t, kSumRowBlocks> lengths{};
};

// The blocks of the row with covered bytes in [from, to) of it; their sums as they will be.
Result<std::optional<Edge>> look_at_edge(VolumeContext& volume, FileId id, const LiveRowRef& row, std::uint64_t from,
                                         std::uint64_t to, std::int64_t file_offset, const Deadline& by) {
  std::uint64_t blocks = 0, known = 0;
  {
    const std::lock_guard lock(row->mutex);
    known = row->known;
    for (std::uint64_t block = from / kSumBlockBytes; block <= (to - 1) / kSumBlockBytes; ++block) {
      const std::uint64_t begin = block * kSumBlockBytes;
      if (begin + row->lengths[block] > from) blocks |= std::uint64_t{1} << block;
    }
  }
  if (blocks == 0) return std::nullopt;
  std::optional<Edge> edge(Edge{.held = HeldBlocks(row, blocks)});
  STOA_CHECK_OK(edge->held.hold(by));
  for (std::uint64_t some = blocks; some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    const std::uint64_t begin = block * kSumBlockBytes;
    const std::uint64_t length = row->lengths[block];
    const std::uint64_t cut = from > begin ? from - begin : 0;
    const std::uint64_t back = to - begin;
    edge->lengths[block] = static_cast<std::uint32_t>(back >= length ? cut : length);
    if (edge->lengths[block] == 0 || (known >> block & 1) == 0) continue;
    auto bytes = read_verified(volume, *row, block);
    if (!bytes && bytes.error().code == Errc::kCorrupt) {
      report_damage(
          volume, id,
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, file_offset + static_cast<std::int64_t>(begin))),
          length);
    }
    STOA_CHECK_OK(bytes);
    if (back < length) std::memset(bytes->data() + cut, 0, back - cut);
    edge->sums[block] = crc32c(std::span(*bytes).first(edge->lengths[block]));
  }
  return edge;
}

Status store_edge(VolumeContext& volume, Edge& edge) {
  LiveRow& row = edge.held.row();
  edge.held.release();
  const std::lock_guard lock(row.mutex);
  for (std::uint64_t some = edge.held.blocks(); some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    row.sums[block] = edge.sums[block];
    row.lengths[block] = edge.lengths[block];
    if (edge.lengths[block] == 0) row.known |= std::uint64_t{1} << block;
  }
  volume.data->verified.forget(row.blob, row.number, edge.held.blocks());
  return row.staged ? Status{} : store_sums(volume, row);
}

// Some of its bytes may be zeros by now, so their sum is unknown.
void forget_edge(VolumeContext& volume, Edge& edge) {
  LiveRow& row = edge.held.row();
  const std::lock_guard lock(row.mutex);
  row.known &= ~edge.held.blocks();
  volume.data->verified.forget(row.blob, row.number, edge.held.blocks());
}

}  // namespace

Status punch_blob(VolumeContext& volume, FileId id, std::uint64_t file_offset, BlobId blob, std::uint64_t offset,
                  std::uint64_t length, std::uint64_t content_end, const Deadline& by) {
  STOA_ASSERT(length > 0, "a punch zeroes bytes");
  const std::uint64_t end = offset + length;
  const LiveSums::Origin origin{false, std::min(content_end, volume.blobs.capacity(blob))};
  const auto row_in_file = [&](std::uint64_t number) {
    return static_cast<std::int64_t>(file_offset) + static_cast<std::int64_t>(number * kSumRowBytes) -
           static_cast<std::int64_t>(offset);
  };
  const std::uint64_t first = offset / kSumRowBytes, last = (end - 1) / kSumRowBytes;
  std::vector<Edge> edges;
  CommitTicket newest{};
  for (std::uint64_t number = first; number <= last; number = number == first && first < last ? last : last + 1) {
    const std::uint64_t begin = number * kSumRowBytes;
    if (offset <= begin && end >= begin + kSumRowBytes) continue;
    STOA_TRY(row, volume.data->sums.find(volume.kv, blob, number, origin));
    STOA_TRY(edge, look_at_edge(volume, id, row, std::max(offset, begin) - begin,
                                std::min(end, begin + kSumRowBytes) - begin, row_in_file(number), by));
    if (edge) edges.push_back(std::move(*edge));
  }
  for (Edge& edge : edges) {
    const std::lock_guard lock(edge.held.row().mutex);
    if ((edge.held.row().stored & edge.held.blocks()) == 0) continue;
    STOA_TRY(ticket, take_sums_from_store(volume, id, edge.held.ref(), edge.held.blocks(), by));
    newest = std::max(newest, ticket);
  }
  RecordChanges gone;
  const auto it = volume.kv.scan(Family::kChecksum, keys::sum_row_key(blob, first), keys::sum_row_key(blob, last + 1));
  for (; it->valid(); it->next()) {
    const std::uint64_t number = keys::read_be64(it->key().substr(sizeof(BlobId)));
    if (offset > number * kSumRowBytes || end < (number + 1) * kSumRowBytes) continue;
    volume.data->sums.forget_row(blob, number);
    volume.data->verified.forget(blob, number);
    gone.remove_sum_row(blob, number);
  }
  STOA_CHECK_OK(it->status());
  if (!gone.empty()) {
    STOA_TRY(ticket, volume.committer.commit({.batch = gone.take()}, by));
    newest = ticket;
  }
  if (newest != CommitTicket{}) STOA_CHECK_OK(volume.committer.wait_durable(newest, by));
  Status zeroed = volume.blobs.punch(blob, offset, length);
  if (zeroed) zeroed = volume.blobs.sync(std::span(&blob, 1));
  if (!zeroed) {
    for (Edge& edge : edges) forget_edge(volume, edge);
    return zeroed;
  }
  // Each edge, also when one fails: a skipped edge would keep the sums of bytes that are zeros now.
  Status stored;
  for (Edge& edge : edges) {
    if (Status one = store_edge(volume, edge); !one && stored) stored = std::move(one);
  }
  return stored;
}

}  // namespace stoa::core

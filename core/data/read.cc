#include <algorithm>

#include "core/access/access.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"
#include "core/data/verify.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {
namespace {

constexpr std::size_t kZerosBytes = 1u << 20;
constexpr std::uint64_t kWrittenReadBytesMax = 1u << 20;  // of one read from memory that others wait for

// The state of a file that a read needs, as of one moment.
struct Snapshot {
  std::uint64_t length = 0;
  bool end_of_file = false;
  Attributes attr;
  bool is_inline = false;
  ContentCache::Bytes inline_bytes;
  std::vector<Piece> pieces;
  std::vector<std::vector<DataSlice>> written;  // of each piece: all of it from memory, as it was written; else empty
  BlobPins::Hold hold;                          // until the bytes have left
};

Result<Snapshot> snapshot(const VolumeView& volume, const OpContext& ctx, const Node& node, std::uint64_t offset,
                          std::uint64_t wanted) {
  STOA_CHECK_OK(require_regular(node));
  STOA_CHECK_OK(require_read(ctx, node.record));
  STOA_CHECK_OK(before_look(volume, ctx, node.record));
  Snapshot p;
  p.attr = node.record.attributes();
  const std::uint64_t size = node.record.size;
  if (offset >= size) {
    p.end_of_file = true;
    return p;
  }
  p.length = std::min(wanted, size - offset);
  p.end_of_file = offset + p.length == size;
  if (p.length == 0) return p;
  STOA_CHECK_OK(volume.state.before_io(ctx, node.id, offset, p.length, false));
  if (reads_inline(node)) {
    p.is_inline = true;
    STOA_TRY(bytes, recent_inline(volume, node.record));
    p.inline_bytes = std::move(bytes);
    return p;
  }
  p.pieces = map_file(node, offset, p.length);
  p.hold = BlobPins::hold(volume.data->pins, p.pieces);
  return p;
}

// Finds the content that is still in memory; the rest is compared with its checksums. Bytes that never came back from
// the disk need no comparison. At most the size of a usual READ: a slow client that reads a large object would keep all
// this memory meanwhile.
Status find_written(const VolumeView& volume, FileId id, Snapshot& p) {
  p.written.resize(p.pieces.size());
  if (p.length > kWrittenReadBytesMax) return verify_pieces(volume, id, p.pieces);
  for (std::size_t i = 0; i < p.pieces.size(); ++i) {
    const Piece& piece = p.pieces[i];
    if (piece.hole()) continue;
    p.written[i] = volume.blobs.lately_written(piece.blob, piece.blob_offset, piece.length);
    if (p.written[i].empty()) STOA_CHECK_OK(verify_pieces(volume, id, std::span(&piece, 1)));
  }
  return {};
}

std::string_view inline_part(const Snapshot& p, std::uint64_t offset) {
  if (p.inline_bytes == nullptr || offset >= p.inline_bytes->size()) return {};
  return std::string_view(*p.inline_bytes).substr(offset, p.length);
}

// The waits of a reader, and their order, are the same for both forms of a read.
template <class Deliver>
auto with_snapshot(const VolumeView& volume, const OpContext& ctx, FileId id, std::uint64_t offset,
                   std::uint64_t wanted, Deliver deliver) -> decltype(deliver(std::declval<Snapshot&>())) {
  STOA_TRY(node, reach(volume, ctx, id));
  STOA_TRY(gate, share_by(node->data_gate, ctx.deadline));
  auto p = [&]() -> Result<Snapshot> {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    return snapshot(volume, ctx, *node, offset, wanted);
  }();
  if (!p) return fail(p.error());
  STOA_CHECK_OK(find_written(volume, id, *p));
  return deliver(*p);
}

std::span<const std::byte> zeros() {
  static const std::vector<std::byte> bytes(kZerosBytes);
  return bytes;
}

}  // namespace

Result<ReadReply> read(const VolumeView& volume, const OpContext& ctx, const ReadRequest& req) {
  return with_snapshot(volume, ctx, req.id, req.offset, req.into.size(), [&](Snapshot& p) -> Result<ReadReply> {
    const auto into = req.into.first(p.length);
    if (p.is_inline) {
      const std::string_view bytes = inline_part(p, req.offset);
      // memcpy and memset must not be given null, not even for no bytes.
      if (!bytes.empty()) std::memcpy(into.data(), bytes.data(), bytes.size());
      if (into.size() > bytes.size()) std::memset(into.data() + bytes.size(), 0, into.size() - bytes.size());
    }
    for (std::size_t i = 0; i < p.pieces.size(); ++i) {
      const Piece& piece = p.pieces[i];
      const auto part = into.subspan(piece.file_offset - req.offset, piece.length);
      if (piece.hole()) {
        std::memset(part.data(), 0, part.size());
      } else if (!p.written[i].empty()) {
        std::byte* at = part.data();
        for (const DataSlice& slice : p.written[i]) {
          std::memcpy(at, slice.bytes.data(), slice.bytes.size());
          at += slice.bytes.size();
        }
      } else {
        STOA_CHECK_OK(volume.blobs.read(piece.blob, piece.blob_offset, part));
      }
    }
    return ReadReply{p.length, p.end_of_file, p.attr};
  });
}

Result<ReadSlicesReply> read_slices(const VolumeView& volume, const OpContext& ctx, const ReadSlicesRequest& req) {
  return with_snapshot(volume, ctx, req.id, req.offset, req.length, [&](Snapshot& p) -> Result<ReadSlicesReply> {
    ReadSlicesReply reply{{}, p.length, p.end_of_file, p.attr};
    if (p.is_inline) {
      // Any number of zeros may have lengthened the file: no more than one reply sends at once.
      reply.length = std::min<std::uint64_t>(p.length, kIoBytesMax);
      reply.end_of_file = reply.end_of_file && reply.length == p.length;
      const std::string_view part = inline_part(p, req.offset);
      if (part.size() >= reply.length) {
        const auto wanted = std::as_bytes(std::span(part.substr(0, reply.length)));
        reply.slices.push_back({.bytes = wanted, .length = reply.length, .keep = p.inline_bytes});
        return reply;
      }
      auto bytes = std::make_shared<std::string>(part);
      bytes->resize(reply.length);
      reply.slices.push_back({.bytes = std::as_bytes(std::span(*bytes)), .length = reply.length, .keep = bytes});
      return reply;
    }
    const auto hold = std::make_shared<BlobPins::Hold>(std::move(p.hold));
    reply.slices.reserve(p.pieces.size());
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < p.pieces.size(); ++i) {
      const Piece& piece = p.pieces[i];
      if (!p.written[i].empty()) {
        std::ranges::move(p.written[i], std::back_inserter(reply.slices));
        given += piece.length;
        continue;
      }
      if (piece.hole()) {
        // A hole may be larger than the zeros at hand, and than one reply.
        const std::uint64_t length = std::min<std::uint64_t>(piece.length, kIoBytesMax);
        for (std::uint64_t at = 0; at < length; at += kZerosBytes) {
          const auto part = zeros().first(std::min<std::uint64_t>(kZerosBytes, length - at));
          reply.slices.push_back({.bytes = part, .length = part.size()});
        }
        given += length;
        if (length < piece.length) break;
        continue;
      }
      STOA_TRY(slice, volume.blobs.slice(piece.blob, piece.blob_offset, piece.length));
      // Both the store's hold on its file and ours on the place must last.
      slice.keep = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
          std::move(slice.keep), hold);
      given += slice.length;
      reply.slices.push_back(std::move(slice));
    }
    reply.end_of_file = reply.end_of_file && given == reply.length;
    reply.length = given;
    return reply;
  });
}

}  // namespace stoa::core

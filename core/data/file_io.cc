#include "core/data/file_io.h"

#include "core/access/access.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/truncate.h"
#include "core/namespace/operations.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kAnySize = std::uint64_t{1} << 40;

Status require_regular(const Node& node) {
  STOA_CHECK_OK(require_live(node));
  if (node.record.is_directory()) return fail(Errc::kIsDirectory);
  if (node.record.type != FileType::kRegular) return fail(Errc::kInvalid);
  return {};
}

// A consistent picture of a file to read from.
struct Picture {
  Inode record;
  std::string inline_bytes;
};
Result<Picture> picture(Tree& tree, const OpContext& ctx, const NodeRef& node) {
  const std::shared_lock lock(node->lock);
  STOA_CHECK_OK(require_regular(*node));
  STOA_CHECK_OK(require_io(ctx, node->record, kMayRead));
  Picture p{node->record, {}};
  if (p.record.has(kContentInline)) {
    STOA_TRY(bytes, load_inline(tree.kv, node->id));
    p.inline_bytes = std::move(bytes);
  }
  return p;
}

Status read_extents(Tree& tree, const Inode& inode, std::uint64_t offset, std::span<std::byte> into) {
  std::memset(into.data(), 0, into.size());
  const std::uint64_t end = offset + into.size();
  for (const Extent& extent : inode.layout.extents) {
    const std::uint64_t from = std::max(offset, extent.file_offset);
    const std::uint64_t to = std::min(end, extent.end());
    if (from >= to) continue;
    STOA_CHECK_OK(tree.blobs.read(extent.blob, extent.blob_offset + from - extent.file_offset,
                                  into.subspan(from - offset, to - from)));
  }
  return {};
}

}  // namespace

Result<ReadReply> read(Tree& tree, const OpContext& ctx, const ReadRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  const std::shared_lock gate(node->data_gate);
  STOA_TRY(p, picture(tree, ctx, node));
  ReadReply reply{0, false, p.record.attributes()};
  if (req.offset >= p.record.size) {
    reply.end_of_file = true;
    return reply;
  }
  reply.length = std::min<std::uint64_t>(req.into.size(), p.record.size - req.offset);
  reply.end_of_file = req.offset + reply.length == p.record.size;
  const auto into = req.into.first(reply.length);
  if (!p.record.has(kContentInline)) {
    STOA_CHECK_OK(read_extents(tree, p.record, req.offset, into));
    return reply;
  }
  std::memset(into.data(), 0, into.size());
  if (req.offset < p.inline_bytes.size()) {
    std::memcpy(into.data(), p.inline_bytes.data() + req.offset,
                std::min<std::uint64_t>(into.size(), p.inline_bytes.size() - req.offset));
  }
  return reply;
}

Result<ReadSlicesReply> read_slices(Tree& tree, const OpContext& ctx, const ReadSlicesRequest& req) {
  const std::uint64_t length = std::min<std::uint64_t>(req.length, kIoBytesMax);
  auto buffer = std::make_shared<std::vector<std::byte>>(length);
  STOA_TRY(done, read(tree, ctx, {req.id, req.offset, *buffer}));
  ReadSlicesReply reply{{}, done.length, done.end_of_file, done.attr};
  if (done.length > 0) {
    reply.slices.push_back({.bytes = std::span(*buffer).first(done.length), .length = done.length, .keep = buffer});
  }
  return reply;
}

namespace {

Status write_inline(Tree& tree, MetaTxn& txn, Inode& next, std::uint64_t offset, ConstBuffers data, std::uint64_t end) {
  std::string bytes;
  if (next.has(kContentInline)) {
    STOA_TRY(present, load_inline(tree.kv, next.id));
    bytes = std::move(present);
  }
  bytes.resize(std::max<std::uint64_t>(bytes.size(), end));
  std::uint64_t at = offset;
  for (const auto& piece : data) {
    std::memcpy(bytes.data() + at, piece.data(), piece.size());
    at += piece.size();
  }
  stage_inline(txn, next.id, bytes);
  next.flags |= kContentInline;
  return {};
}

Status write_blob(Tree& tree, MetaTxn& txn, Inode& next, std::uint64_t offset, ConstBuffers data, std::uint64_t end) {
  if (next.layout.extents.size() != 1 || next.layout.extents[0].file_offset != 0 ||
      end > tree.blobs.capacity(next.layout.extents[0].blob)) {
    // Into one blob that may grow to any size.
    STOA_TRY(blob, tree.blobs.reserve(kAnySize));
    std::vector<std::byte> content(std::min<std::uint64_t>(next.size, kIoBytesMax));
    for (std::uint64_t at = 0; at < next.size; at += content.size()) {
      auto piece = std::span(content).first(std::min<std::uint64_t>(content.size(), next.size - at));
      if (next.has(kContentInline)) {
        STOA_TRY(bytes, load_inline(tree.kv, next.id));
        std::memset(piece.data(), 0, piece.size());
        std::memcpy(piece.data(), bytes.data(), std::min(bytes.size(), piece.size()));
      } else {
        STOA_CHECK_OK(read_extents(tree, next, at, piece));
      }
      const std::span<const std::byte> pieces[] = {piece};
      STOA_CHECK_OK(tree.blobs.write(blob, at, pieces));
    }
    STOA_CHECK_OK(drop_content(tree, txn, next));
    next.flags &= static_cast<std::uint8_t>(~kContentInline);
    next.layout.extents.assign(1, Extent{0, next.size, blob, 0});
    txn.reference(blob, +1);
  }
  Extent& extent = next.layout.extents[0];
  STOA_CHECK_OK(tree.blobs.write(extent.blob, offset, data));
  extent.length = std::max(extent.length, end);
  next.allocated = extent.length;
  return {};
}

}  // namespace

Result<WriteReply> write(Tree& tree, const OpContext& ctx, const WriteRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  std::uint64_t length = 0;
  for (const auto& piece : req.data) length += piece.size();
  if (length > kIoBytesMax) return fail(Errc::kTooLarge);
  if (req.offset > kFileBytesMax || length > kFileBytesMax - req.offset) return fail(Errc::kFileTooBig);
  const std::lock_guard gate(node->data_gate);
  const FileId files[] = {req.id};
  return run_mutation(tree, ctx, files, [&](CommitTicket& ticket) -> Result<WriteReply> {
    const NodeLocks locks({node});
    STOA_CHECK_OK(require_regular(*node));
    STOA_CHECK_OK(require_io(ctx, node->record, kMayWrite));
    WriteReply reply{length, node->record.before(), node->record.attributes()};
    if (length == 0) return reply;
    const std::uint64_t end = req.offset + length;
    MetaTxn txn(tree, ctx);
    Inode next = node->record;
    if (end > next.size) {
      STOA_CHECK_OK(txn.reserve(node->account, {.bytes = static_cast<std::int64_t>(end - next.size)}));
    }
    const bool fits_inline = std::max(end, next.size) <= tree.options.inline_bytes_max && next.layout.extents.empty();
    if (fits_inline) {
      STOA_CHECK_OK(write_inline(tree, txn, next, req.offset, req.data, end));
    } else {
      STOA_CHECK_OK(write_blob(tree, txn, next, req.offset, req.data, end));
      if (ctx.durability == Durability::kDurable) {
        STOA_CHECK_OK(tree.blobs.sync(std::span(&next.layout.extents[0].blob, 1)));
      }
    }
    next.size = std::max(next.size, end);
    ++next.data_version;
    next.touch_content(txn.now());
    reply.attr = next.attributes();
    txn.put_inode(node, std::move(next));
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  });
}

Result<CommitReply> commit(Tree& tree, const OpContext& ctx, const CommitRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  CommitReply reply;
  std::vector<BlobId> blobs;
  {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_regular(*node));
    reply = {node->record.before(), node->record.attributes()};
    for (const Extent& extent : node->record.layout.extents) blobs.push_back(extent.blob);
  }
  if (!blobs.empty()) STOA_CHECK_OK(tree.blobs.sync(blobs));
  OpContext durable = ctx;
  durable.durability = Durability::kDurable;
  STOA_CHECK_OK(settle(tree, durable, tree.committer.applied()));
  return reply;
}

Result<RangeReply> allocate(Tree& tree, const OpContext& ctx, const RangeRequest& req) {
  if (req.length > kFileBytesMax || req.offset > kFileBytesMax - req.length) return fail(Errc::kFileTooBig);
  STOA_TRY(now, getattr(tree, ctx, {req.id}));
  const std::uint64_t end = req.offset + req.length;
  if (end <= now.attr.size) return RangeReply{{now.attr.size, now.attr.mtime, now.attr.ctime, now.attr.change}, now.attr};
  STOA_TRY(grown, setattr(tree, ctx, {.id = req.id, .set = {.size = end}}));
  return RangeReply{grown.before, grown.attr};
}

Result<RangeReply> punch(Tree& tree, const OpContext& ctx, const RangeRequest& req) {
  STOA_TRY(now, getattr(tree, ctx, {req.id}));
  RangeReply reply{{now.attr.size, now.attr.mtime, now.attr.ctime, now.attr.change}, now.attr};
  const std::vector<std::byte> zeros(std::min<std::uint64_t>(kIoBytesMax, now.attr.size));
  std::uint64_t at = req.offset;
  const std::uint64_t end = std::min(now.attr.size, req.offset + std::min(req.length, kFileBytesMax - req.offset));
  while (at < end) {
    const std::span<const std::byte> pieces[] = {std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), end - at))};
    STOA_TRY(written, write(tree, ctx, {req.id, at, pieces}));
    at += written.length;
    reply.attr = written.attr;
  }
  return reply;
}

Result<SeekReply> seek(Tree& tree, const OpContext& ctx, const SeekRequest& req) {
  STOA_TRY(now, getattr(tree, ctx, {req.id}));
  if (req.offset >= now.attr.size) return fail(Errc::kNoMoreData);
  if (req.what == SeekWhat::kData) return SeekReply{req.offset, false};
  return SeekReply{now.attr.size, true};
}

Result<CopyRangeReply> copy_range(Tree& tree, const OpContext& ctx, const CopyRangeRequest& req) {
  STOA_TRY(source, getattr(tree, ctx, {req.from}));
  if (req.from_offset > source.attr.size) return fail(Errc::kInvalid, "behind the end of the source");
  const std::uint64_t length = req.length == 0 ? source.attr.size - req.from_offset : req.length;
  if (length > source.attr.size - req.from_offset) return fail(Errc::kInvalid, "behind the end of the source");
  if (req.from == req.to && req.from_offset < req.to_offset + length && req.to_offset < req.from_offset + length) {
    return fail(Errc::kInvalid, "overlapping ranges");
  }
  STOA_TRY(target, getattr(tree, ctx, {req.to}));
  CopyRangeReply reply{0, target.attr};
  std::vector<std::byte> buffer(std::min<std::uint64_t>(length, kIoBytesMax));
  while (reply.length < length) {
    const auto want = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), length - reply.length));
    STOA_TRY(got, read(tree, ctx, {req.from, req.from_offset + reply.length, want}));
    if (got.length == 0) break;
    const std::span<const std::byte> pieces[] = {want.first(got.length)};
    STOA_TRY(written, write(tree, ctx, {req.to, req.to_offset + reply.length, pieces}));
    reply.length += written.length;
    reply.attr = written.attr;
  }
  return reply;
}

}  // namespace stoa::core

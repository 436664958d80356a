#include "core/data/append_again.h"

#include <algorithm>
#include <vector>

#include "core/access/access.h"
#include "core/txn/operations.h"

namespace stoa::core {
namespace {

// Whether the file still has these bytes there, or zeros in their place.
Result<bool> has_or_lost(VolumeContext& volume, const OpContext& ctx, FileId id, std::uint64_t offset,
                         ConstBuffers data) {
  std::vector<std::byte> there;
  for (const std::span<const std::byte> sent : data) {
    there.resize(sent.size());
    STOA_TRY(got, read(volume, ctx, {.id = id, .offset = offset, .into = there}));
    if (got.length != sent.size()) return false;
    offset += sent.size();
    const bool same = std::ranges::equal(
        there, sent, [](std::byte now, std::byte then) { return now == then || now == std::byte{}; });
    if (!same) return false;
  }
  return true;
}

Result<WriteReply> write_again(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                               const WriteRequest& req, std::uint64_t length, std::uint64_t offset) {
  WriteReply reply{.length = length, .before = {}, .attr = {}, .offset = offset};
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    STOA_CHECK_OK(require_write(ctx, node->record, node->record.size));
    reply.before = node->record.before();
    reply.attr = node->record.attributes();
  }
  // Its own bytes: the right to append is enough.
  OpContext again = ctx;
  again.cred = Credentials::superuser();
  again.request = {};
  again.pending.clear();
  STOA_TRY(whole, has_or_lost(volume, again, req.id, offset, req.data));
  if (!whole) return reply;
  STOA_TRY(written, write(volume, again, {.id = req.id, .offset = offset, .data = req.data, .memory = req.memory}));
  ctx.pending.merge(again.pending);
  return written;
}

}  // namespace

std::optional<Result<WriteReply>> append_again(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                               const WriteRequest& req, std::uint64_t length) {
  const auto* const change = volume.finished.find(ctx.request);
  if (change == nullptr || change->id != req.id || !change->appended || change->appended->length != length) return {};
  Result<WriteReply> reply = write_again(volume, ctx, node, req, length, change->appended->offset);
  if (reply) reply->verifier = volume.write_verifier;
  return reply;
}

}  // namespace stoa::core

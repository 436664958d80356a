// RFC 1813 3.3.6
#include <algorithm>

#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {
namespace {

// Status, attributes, count, eof and the length of the data: the words before the bytes.
constexpr std::size_t kHeadBytes = 4 + 4 + kAttributesBytes + 4 + 4 + 4;

// The procedure's list of errors has INVAL for any file that is not regular, and not ISDIR.
NfsStatus read_status(Operation& op, const Error& error) {
  return error.code == Errc::kIsDirectory ? NfsStatus::kInval : op.status_of(error);
}

void encode_head(Operation& op, const core::Attributes& attr, std::uint64_t length, bool end) {
  op.ok();
  op.post_op(attr);
  op.out.u32(static_cast<std::uint32_t>(length));
  op.out.boolean(end);
  op.out.u32(static_cast<std::uint32_t>(length));
}

rpc::Outcome read_copied(Operation& op, core::FileId id, std::uint64_t offset, std::uint32_t count) {
  auto place = op.out.reserve(kHeadBytes, count);
  const auto reply = op.ns.read(op.ctx, {.id = id, .offset = offset, .into = place.content()});
  if (!reply) {
    place.drop();
    return op.failed_with_attributes(read_status(op, reply.error()), id);
  }
  place.commit(reply->length, [&] { encode_head(op, reply->attr, reply->length, reply->end_of_file); });
  return {};
}

rpc::Outcome read_sliced(Operation& op, core::FileId id, std::uint64_t offset, std::uint32_t count) {
  auto reply = op.ns.read_slices(op.ctx, {.id = id, .offset = offset, .length = count});
  if (!reply) return op.failed_with_attributes(read_status(op, reply.error()), id);
  encode_head(op, reply->attr, reply->length, reply->end_of_file);
  op.reply.slices = std::move(reply->slices);
  op.reply.slice_bytes = static_cast<std::uint32_t>(reply->length);
  return {};
}

}  // namespace

rpc::Outcome op_read(Operation& op) {
  const auto handle = op.read_handle();
  const std::uint64_t offset = op.in.u64();
  const std::uint32_t count = std::min(op.in.u32(), kIoBytesMax);
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_attributes(id.error());

  const bool sliced = op.reply.takes_slices && count > kCopiedReadBytesMax;
  return sliced ? read_sliced(op, *id, offset, count) : read_copied(op, *id, offset, count);
}

}  // namespace stoa::nfs3

// RFC 8881 18.22
#include <algorithm>

#include "frontends/nfs/v4/io_price.h"
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kHeadBytes = 4 + 4;  // eof and the length of the data

void encode_head(Compound& c, std::uint64_t length, bool end) {
  c.out.boolean(end);
  c.out.u32(static_cast<std::uint32_t>(length));
}

Nfs4Status read_copied(Compound& c, core::FileId id, std::uint64_t offset, std::uint32_t count) {
  auto place = c.out.reserve(kHeadBytes, count);
  const auto reply = c.ns.read(c.ctx, {.id = id, .offset = offset, .into = place.content()});
  if (!reply) {
    place.drop();
    return data_status(c, id, reply.error());
  }
  place.commit(reply->length, [&] { encode_head(c, reply->length, reply->end_of_file); });
  return Nfs4Status::kOk;
}

Nfs4Status read_sliced(Compound& c, core::FileId id, std::uint64_t offset, std::uint32_t count) {
  auto reply = c.ns.read_slices(c.ctx, {.id = id, .offset = offset, .length = count});
  if (!reply) return data_status(c, id, reply.error());
  encode_head(c, reply->length, reply->end_of_file);
  c.reply.slices = std::move(reply->slices);
  c.reply.slice_bytes = static_cast<std::uint32_t>(reply->length);
  return Nfs4Status::kOk;
}

}  // namespace

Nfs4Status op_read(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  const std::uint64_t offset = c.in.u64();
  const std::uint32_t count = std::min(c.in.u32(), kIoBytesMax);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, false); bad != Nfs4Status::kOk) return bad;
  if (const Nfs4Status later = pay_for_io(c, qos::Price::read(count)); later != Nfs4Status::kOk) return later;

  const bool sliced = c.last && c.reply.takes_slices && count > kCopiedReadBytesMax;
  return sliced ? read_sliced(c, file.id, offset, count) : read_copied(c, file.id, offset, count);
}

}  // namespace stoa::nfs4

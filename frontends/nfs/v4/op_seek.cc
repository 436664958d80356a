// RFC 7862 15.11
#include "frontends/nfs/v4/data_content.h"
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

Nfs4Status found(Compound& c, bool end, std::uint64_t offset) {
  c.out.boolean(end);
  c.out.u64(offset);
  return Nfs4Status::kOk;
}

}  // namespace

Nfs4Status op_seek(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  const std::uint64_t offset = c.in.u64();
  const std::uint32_t what = c.in.u32();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (what != kContentData && what != kContentHole) return Nfs4Status::kUnionNotSupp;
  if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, false); bad != Nfs4Status::kOk) return bad;

  const auto wanted = what == kContentData ? core::SeekWhat::kData : core::SeekWhat::kHole;
  const auto reply = c.ns.seek(c.ctx, {.id = file.id, .offset = offset, .what = wanted});
  if (reply) return found(c, reply->end_of_file, reply->offset);
  if (reply.error().code != Errc::kNoMoreData) return data_status(c, file.id, reply.error());
  // Behind the end is an error; no more data before the end is an answer.
  const auto now = c.ns.getattr(c.ctx, {.id = file.id});
  if (!now) return c.status_of(now.error());
  if (offset >= now->attr.size) return Nfs4Status::kNxIo;
  return found(c, true, now->attr.size);
}

}  // namespace stoa::nfs4

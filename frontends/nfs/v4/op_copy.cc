// RFC 7862 15.2. Long copies go on in the background where the client lets them. Others are done when the reply leaves,
// a bounded piece at a time: the client repeats the call for the rest.
#include <algorithm>

#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/offloads.h"
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/stable_how.h"

namespace stoa::nfs4 {
namespace {

struct CopyArguments {
  Stateid from_stateid, to_stateid;
  std::uint64_t from_offset = 0, to_offset = 0, count = 0;
  bool synchronous = true;
  bool from_other_server = false;
};

// netloc4 (RFC 7862 11.1): only that it is there counts.
void skip_location(rpc::XdrReader& in) {
  enum : std::uint32_t { kName = 1, kUrl = 2, kAddress = 3 };
  constexpr std::size_t kAny = ~std::size_t{0} >> 1;
  switch (in.u32()) {
    case kName:
    case kUrl:
      in.opaque(kAny);
      return;
    case kAddress:
      in.opaque(kAny);
      in.opaque(kAny);
      return;
    default:
      in.reject();
  }
}

CopyArguments read_copy_arguments(rpc::XdrReader& in) {
  CopyArguments a{.from_stateid = read_stateid(in), .to_stateid = read_stateid(in)};
  a.from_offset = in.u64();
  a.to_offset = in.u64();
  a.count = in.u64();
  in.boolean();  // consecutive: it always is
  a.synchronous = in.boolean();
  const std::uint32_t locations = in.u32();
  for (std::uint32_t i = 0; i < locations && in.ok(); ++i) skip_location(in);
  a.from_other_server = locations > 0;
  return a;
}

// The rules that hold for the whole range, though only a piece of it is copied now.
Nfs4Status check_ranges(Compound& c, const CopyArguments& a, core::FileId from, core::FileId to,
                        std::uint64_t& length) {
  const auto source = c.ns.getattr(c.ctx, {.id = from});
  if (!source) return c.status_of(source.error());
  const std::uint64_t size = source->attr.size;
  if (a.from_offset > size || a.count > size - a.from_offset) return Nfs4Status::kInval;
  length = a.count == 0 ? size - a.from_offset : a.count;
  if (a.to_offset > core::kFileBytesMax - length) return Nfs4Status::kFBig;
  const bool overlap = a.from_offset < a.to_offset + length && a.to_offset < a.from_offset + length;
  return from == to && overlap ? Nfs4Status::kInval : Nfs4Status::kOk;
}

Nfs4Status copy_now(Compound& c, const core::CopyRangeRequest& request, core::CopyRangeReply& copied) {
  c.ctx.durability = core::Durability::kApplied;
  const auto reply = c.ns.copy_range(c.ctx, request);
  if (reply) {
    copied = *reply;
    return Nfs4Status::kOk;
  }
  const Nfs4Status status = data_status(c, request.to, reply.error());
  return status == Nfs4Status::kInval ? data_status(c, request.from, reply.error()) : status;
}

std::optional<Stateid> copy_later(Compound& c, const core::CopyRangeRequest& request, std::uint64_t verifier) {
  if (c.env.offloads == nullptr || c.client == nullptr) return std::nullopt;
  return c.env.offloads->start(
      c.client,
      {.ctx = c.ctx.applied(), .request = request, .to = c.env.handles.encode(c.current->ref), .verifier = verifier});
}

void write_response(Compound& c, const std::optional<Stateid>& later, const core::CopyRangeReply& copied) {
  c.out.u32(later ? 1 : 0);
  if (later) write_stateid(c.out, *later);
  c.out.u64(later ? 0 : copied.length);
  c.out.u32(static_cast<std::uint32_t>(StableHow::kUnstable));
  c.out.u64(copied.verifier);
  c.out.boolean(true);  // consecutive
  c.out.boolean(!later);
}

}  // namespace

Nfs4Status op_copy(Compound& c) {
  const CopyArguments a = read_copy_arguments(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (a.from_other_server) return Nfs4Status::kNotSupp;
  const auto to = c.file(Nfs4Status::kIsDir);
  if (to.status != Nfs4Status::kOk) return to.status;
  const auto from = c.saved_file();
  if (from.status != Nfs4Status::kOk) return from.status;
  if (const Nfs4Status bad = check_io_stateid(c, a.from_stateid, from.id, false); bad != Nfs4Status::kOk) return bad;
  if (const Nfs4Status bad = check_io_stateid(c, a.to_stateid, to.id, true); bad != Nfs4Status::kOk) return bad;

  std::uint64_t length = 0;
  const Nfs4Status ranges = check_ranges(c, a, from.id, to.id, length);
  if (ranges != Nfs4Status::kOk && ranges != Nfs4Status::kInval && ranges != Nfs4Status::kFBig) return ranges;
  if (ranges != Nfs4Status::kOk) {
    // A directory or a device has no range that is right: its type is the better reason.
    const Nfs4Status type = data_status(c, from.id, {.code = Errc::kInvalid});
    return type == Nfs4Status::kInval ? ranges : type;
  }
  core::CopyRangeRequest request{
      .from = from.id, .from_offset = a.from_offset, .to = to.id, .to_offset = a.to_offset, .length = length};
  core::CopyRangeReply copied{};
  if (!a.synchronous && length > c.env.copy_bytes_max) {
    // Early check of errors, with the first byte.
    request.length = 1;
    if (const Nfs4Status status = copy_now(c, request, copied); status != Nfs4Status::kOk) return status;
    request.length = length;
    if (const auto stateid = copy_later(c, request, copied.verifier)) {
      write_response(c, stateid, copied);
      return Nfs4Status::kOk;
    }
  }
  request.length = std::min(length, c.env.copy_bytes_max);
  if (const Nfs4Status status = copy_now(c, request, copied); status != Nfs4Status::kOk) return status;
  write_response(c, std::nullopt, copied);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 16.2 (COMPOUND), 2.10.6 (exactly once): the loop over the operations, and the steps of SEQUENCE around it.
// In minor version 0 (RFC 7530 15.2, 9.1.7) the turns of owners.
#include "frontends/nfs/v4/op_sequence.h"
#include "frontends/nfs/v4/operation_metrics.h"
#include "frontends/nfs/v4/operation_table.h"
#include "frontends/nfs/v4/program.h"
#include "frontends/nfs/v4/seqid_slot.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kOperationsMax = 1024;  // in one COMPOUND without a session; sessions have limits of their own
constexpr std::size_t kReplyBytesMax = 2 * kIoBytesMax;  // likewise
constexpr std::size_t kRpcHeaderBytes = 32;  // of a reply: counts towards a session's limits beside COMPOUND4res

void put_status(rpc::XdrWriter& out, std::size_t at, Nfs4Status status) {
  out.patch_u32(at, static_cast<std::uint32_t>(status));
}

// Whether the operation is allowed in this position (2.10.2.2, 18.46.3).
Nfs4Status check_place(const OperationEntry& entry, std::uint32_t minor, std::uint32_t index, std::uint32_t count,
                       bool in_session) {
  if (minor == 0) return Nfs4Status::kOk;
  switch (entry.place) {
    case Place::kFirst:
      return index == 0 ? Nfs4Status::kOk : Nfs4Status::kSequencePos;
    case Place::kAlone:
      if (in_session) return Nfs4Status::kOk;
      if (index != 0) return Nfs4Status::kOpNotInSession;
      return count == 1 ? Nfs4Status::kOk : Nfs4Status::kNotOnlyOp;
    case Place::kMinor0:
      return in_session ? Nfs4Status::kNotSupp : Nfs4Status::kOpNotInSession;
    case Place::kInSession:
      return in_session ? Nfs4Status::kOk : Nfs4Status::kOpNotInSession;
  }
  return Nfs4Status::kServerFault;
}

}  // namespace

rpc::Outcome run_compound(const Environment& environment, const nfs::Call& call, rpc::Reply& reply) {
  Compound c(environment, call, reply);
  const auto tag = c.in.opaque(kTagBytesMax);
  c.minor = c.in.u32();
  const std::uint32_t count = c.in.u32();
  if (!c.in.ok()) return {.accept = rpc::AcceptStatus::kGarbageArguments};

  const std::size_t begin = c.out.size();
  c.out.u32(0);
  c.out.opaque(tag);
  const std::size_t count_at = c.out.size();
  c.out.u32(0);
  if (c.minor > kMinorMax) {
    put_status(c.out, begin, Nfs4Status::kMinorVersMismatch);
    return {.failed = true};
  }
  if (count > kOperationsMax) {
    put_status(c.out, begin, Nfs4Status::kResource);
    return {.failed = true};
  }

  SequenceGuard sequence(c, count, begin);
  Nfs4Status status = Nfs4Status::kOk;
  std::uint32_t done = 0;
  for (; done < count && status == Nfs4Status::kOk; ++done) {
    const std::uint32_t number = c.in.u32();
    const OperationEntry* entry = c.in.ok() ? find_operation(number, c.minor) : nullptr;
    c.out.u32(entry != nullptr ? number : kOpIllegal);
    const std::size_t status_at = c.out.size();
    c.out.u32(0);
    c.last = done + 1 == count;
    c.operation = number;
    c.arguments = c.in.rest();
    c.error_body = false;
    c.ctx.durability = core::Durability::kDurable;
    c.ctx.request = c.call.request.operation(done);
    if (entry == nullptr) {
      status = c.in.ok() ? Nfs4Status::kOpIllegal : Nfs4Status::kBadXdr;
    } else {
      status = check_place(*entry, c.minor, done, count, c.session != nullptr);
      if (status == Nfs4Status::kOk && c.wrong_security && !takes_wrong_security(number))
        status = Nfs4Status::kWrongSec;
      if (status == Nfs4Status::kOk && entry->place == Place::kFirst) {
        status = sequence.begin();
        if (sequence.replayed()) return {};
      } else if (status == Nfs4Status::kOk) {
        status = entry->run != nullptr ? entry->run(c) : Nfs4Status::kNotSupp;
      }
    }
    if (status == Nfs4Status::kWrongSec) c.report_refused(c.access.entered());
    if (status != Nfs4Status::kOk && !c.error_body) {
      c.out.truncate(status_at + 4);
      c.reply.slices.clear();
      c.reply.slice_bytes = 0;
    }
    if (c.minor == 0) status = in_minor_version_0(status);
    if (c.turn != nullptr) {
      c.turn->finish(c, status, c.out.written_since(status_at + 4));
      c.turn.reset();
    }
    const std::size_t bytes = c.out.size() - begin + c.reply.slice_bytes + kRpcHeaderBytes;
    const Nfs4Status large =
        c.session == nullptr && bytes > kReplyBytesMax ? Nfs4Status::kResource : sequence.check_size(bytes);
    if (status == Nfs4Status::kOk && large != Nfs4Status::kOk) {
      status = large;
      c.out.truncate(status_at + 4);
      c.reply.slices.clear();
      c.reply.slice_bytes = 0;
    }
    put_status(c.out, status_at, status);
    if (entry != nullptr && environment.metrics != nullptr)
      environment.metrics->count(number, status != Nfs4Status::kOk);
  }
  put_status(c.out, begin, status);
  c.out.patch_u32(count_at, done);
  sequence.finish();
  return {.failed = status != Nfs4Status::kOk};
}

}  // namespace stoa::nfs4

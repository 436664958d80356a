// RFC 8881 16.2 (COMPOUND), 2.10.6 (exactly once): the loop over the operations, and the steps of SEQUENCE around it.
// In minor version 0 (RFC 7530 15.2, 9.1.7) the turns of owners.
#include "frontends/nfs/v4/op_sequence.h"
#include "frontends/nfs/v4/operation_metrics.h"
#include "frontends/nfs/v4/operation_table.h"
#include "frontends/nfs/v4/program.h"
#include "frontends/nfs/v4/reply_room.h"
#include "frontends/nfs/v4/seqid_slot.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kOperationsMax = 1024;  // in one COMPOUND without a session; sessions have limits of their own
constexpr std::size_t kReplyBytesMax = 2 * kIoBytesMax;  // likewise
constexpr std::size_t kRpcHeaderBytes = 32;  // of a reply: counts towards a session's limits beside COMPOUND4res

void put_status(rpc::XdrWriter& out, std::size_t at, Nfs4Status status) {
  out.patch_u32(at, static_cast<std::uint32_t>(status));
}

// A COMPOUND that waits for a recall, to be run again as a whole.
struct WaitingCompound final : rpc::KeptCall {
  WaitingCompound(WaitingSlot taken, std::uint32_t operations, bool has_paid)
      : slot(std::move(taken)), counted(operations), paid(has_paid) {}
  WaitingSlot slot;
  std::uint32_t counted;  // operations in metrics
  bool paid;              // something that was not foreseen
};

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

// One COMPOUND behind its head.
class Loop {
 public:
  // `begin`: where COMPOUND4res begins in c.out.
  Loop(Compound& c, std::uint32_t count, std::size_t begin)
      : c_(c),
        count_(count),
        begin_(begin),
        kept_(c.call.kept != nullptr ? std::move(*c.call.kept) : nullptr),
        waited_(dynamic_cast<WaitingCompound*>(kept_.get())),
        sequence_(c, count, begin) {
    c.paid_before = waited_ != nullptr && waited_->paid;
  }

  rpc::Outcome run(std::size_t count_at) {
    Nfs4Status status = Nfs4Status::kOk;
    for (; done_ < count_ && status == Nfs4Status::kOk; ++done_) {
      status = step();
      if (sequence_.replayed()) return {};
      if (waits_) return {.failed = true, .waits_for = c_.recalled};
    }
    put_status(c_.out, begin_, status);
    c_.out.patch_u32(count_at, done_);
    sequence_.finish();
    return {.failed = status != Nfs4Status::kOk};
  }

 private:
  // The next operation, and its result.
  Nfs4Status step() {
    const std::uint32_t number = c_.in.u32();
    const OperationEntry* entry = c_.in.ok() ? find_operation(number, c_.minor) : nullptr;
    c_.out.u32(entry != nullptr ? number : kOpIllegal);
    const std::size_t status_at = c_.out.size();
    c_.out.u32(0);
    c_.last = done_ + 1 == count_;
    c_.operation = number;
    c_.arguments = c_.in.rest();
    c_.error_body = false;
    c_.recalled = core::kNoFile;
    c_.ctx.durability = core::Durability::kDurable;
    c_.ctx.request = c_.call.request.operation(done_);
    Nfs4Status status = Nfs4Status::kOk;
    if (entry == nullptr) {
      status = c_.in.ok() ? Nfs4Status::kOpIllegal : Nfs4Status::kBadXdr;
    } else {
      status = run(*entry);
      if (sequence_.replayed()) return Nfs4Status::kOk;
    }
    if (status == Nfs4Status::kDelay && c_.recalled != core::kNoFile && only_looked_ && c_.call.may_wait) {
      if (auto slot = sequence_.wait()) {
        *c_.call.kept = std::make_unique<WaitingCompound>(std::move(*slot), done_, c_.paid);
        waits_ = true;
        return status;
      }
    }
    only_looked_ = only_looked_ && entry != nullptr && entry->foreseen.cost == Cost::kNone;
    return finish(entry, status_at, status);
  }

  Nfs4Status run(const OperationEntry& entry) {
    if (const auto status = check_place(entry, c_.minor, done_, count_, c_.session != nullptr);
        status != Nfs4Status::kOk) {
      return status;
    }
    if (c_.wrong_security && !takes_wrong_security(entry.number)) return Nfs4Status::kWrongSec;
    if (entry.place == Place::kFirst) return sequence_.begin(waited_ != nullptr ? &waited_->slot : nullptr);
    // The client would not learn of a change whose result has no room in the reply, so none is made.
    const std::size_t room = change_result_bytes(entry.number);
    if (room > 0) {
      if (const auto status = check_size(room); status != Nfs4Status::kOk) return status;
    }
    return entry.run != nullptr ? entry.run(c_) : Nfs4Status::kNotSupp;
  }

  // Whether the reply may have so many bytes more.
  Nfs4Status check_size(std::size_t more) const {
    const std::size_t bytes = c_.out.size() - begin_ + c_.reply.slice_bytes + kRpcHeaderBytes + more;
    if (c_.session == nullptr && bytes > kReplyBytesMax) return Nfs4Status::kResource;
    return sequence_.check_size(bytes);
  }

  // Makes the result whole. `entry`: null: there is no such operation.
  Nfs4Status finish(const OperationEntry* entry, std::size_t status_at, Nfs4Status status) {
    if (status == Nfs4Status::kWrongSec) c_.report_refused(c_.access.entered());
    if (status != Nfs4Status::kOk && !c_.error_body) drop_result(status_at);
    if (c_.minor == 0) status = in_minor_version_0(status);
    if (c_.turn != nullptr) {
      c_.turn->finish(c_, status, c_.out.written_since(status_at + 4));
      c_.turn.reset();
    }
    if (const auto large = check_size(0); status == Nfs4Status::kOk && large != Nfs4Status::kOk) {
      status = large;
      drop_result(status_at);
    }
    put_status(c_.out, status_at, status);
    // Operations before the one that waited were counted then.
    const bool counted = waited_ != nullptr && done_ < waited_->counted;
    if (entry != nullptr && c_.env.metrics != nullptr && !counted) {
      c_.env.metrics->count(entry->number, status != Nfs4Status::kOk);
    }
    return status;
  }

  void drop_result(std::size_t status_at) {
    c_.out.truncate(status_at + 4);
    c_.reply.slices.clear();
    c_.reply.slice_bytes = 0;
  }

  Compound& c_;
  const std::uint32_t count_;
  const std::size_t begin_;
  const std::unique_ptr<rpc::KeptCall> kept_;
  WaitingCompound* const waited_;  // null: it runs for the first time
  SequenceGuard sequence_;
  std::uint32_t done_ = 0;
  // A COMPOUND that waits is run again from its beginning, so it may only have looked and moved before.
  bool only_looked_ = true;
  bool waits_ = false;
};

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
  return Loop(c, count, begin).run(count_at);
}

}  // namespace stoa::nfs4

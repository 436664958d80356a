#include "frontends/native/server/operation_run.h"

#include <algorithm>

#include "frontends/native/server/op/operations.h"

namespace stoa::native {
namespace {

// More than the fixed part of any reply.
constexpr std::size_t kReplyRecordBytes = 448;

template <class Reply>
concept HasFile = requires(const Reply& reply) { reply.attr.id; };

}  // namespace

Status check_name(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return fail(Errc::kInvalid);
  if (name.find('/') != name.npos || name.find('\0') != name.npos) return fail(Errc::kInvalid);
  if (name.size() > core::kNameBytesMax) return fail(Errc::kNameTooLong);
  return {};
}

Result<core::FileId> OperationRun::file(File operand) const {
  if (!is_result(operand)) {
    if (operand == File{}) return fail(Errc::kBadHandle);
    return core::FileId{static_cast<U64>(operand)};
  }
  const std::size_t earlier = operation_of(operand);
  if (earlier >= files_.size() || files_[earlier] == core::kNoFile) return fail(Errc::kBadHandle);
  return files_[earlier];
}

WireStatus OperationRun::through(U64 number, core::FileId file, std::uint32_t access) {
  ctx.open = core::kNoOpen;
  if (number == 0) return WireStatus::ok;
  const auto open = session.find_open(number);
  if (!open || open->file != file) return WireStatus::bad_open;
  // To write a part of a page, clients read what is around it.
  const bool may = access == kOpenRead ? open->access != 0 : (open->access & access) == access;
  if (!may) return WireStatus::bad_open;
  ctx.open = open->id;
  reads_ = open->reads && (open->access & kOpenRead) != 0;
  modifies_ = open->modifies;
  return WireStatus::ok;
}

WireStatus OperationRun::cached(U64 lease) {
  if (lease == 0) return WireStatus::ok;
  ctx.cached_under = session.leases.find(lease);
  return ctx.cached_under ? WireStatus::ok : WireStatus::lease_lost;
}

WireStatus OperationRun::check_grace(bool reclaim) {
  const std::string name = session.key.stable_name();
  if (reclaim) {
    const bool may = !session.reclaimed.load() && state.may_reclaim(core::Protocol::kNative, name);
    return may ? WireStatus::ok : WireStatus::no_grace;
  }
  if (state.in_grace()) return WireStatus::grace;
  if (!session.reclaimed.exchange(true)) state.reclaim_done(core::Protocol::kNative, name);
  return WireStatus::ok;
}

std::size_t OperationRun::room() const {
  const std::size_t left = message.operations.size() - files_.size();
  const std::size_t taken =
      kHeaderBytes + records_.size() + payload_.size() + kPayloadAlignment + left * kReplyRecordBytes;
  const std::size_t most = kMessageBytesMax > taken ? kMessageBytesMax - taken : 0;
  const std::size_t payload_most = kPayloadBytesMax - std::min(kPayloadBytesMax, payload_.size());
  if (!message.changes) return std::min(most, payload_most);
  const std::size_t kept = records_.size() + payload_.size();
  return std::min({most, payload_most, kCachedReplyBytesMax - std::min(kCachedReplyBytesMax, kept)});
}

void OperationRun::all() {
  const core::RequestKey key = session.request_key(message.view.header.slot, message.view.header.sequence);
  const core::Durability durability = ctx.durability;
  for (std::size_t i = 0; i < message.operations.size(); ++i) {
    ctx.request = key.operation(static_cast<std::uint32_t>(i));
    ctx.open = core::kNoOpen;
    ctx.cached_under.reset();
    ctx.durability = durability;
    const WireStatus status = one(message.operations[i]);
    native.metrics.ran(message.operations[i].code, status != WireStatus::ok);
    if (status != WireStatus::ok) return;
  }
}

template <class Operation, class Run>
WireStatus OperationRun::run_one(const RecordView& record, const Run& run) {
  typename Operation::Arguments arguments;
  typename Operation::Reply reply;
  const WireStatus status = read_record(record, arguments) ? run(*this, arguments, reply) : WireStatus::malformed;
  changed_ = changed_ || (status == WireStatus::ok && Operation::kKind != OperationKind::kReads);
  core::FileId named = core::kNoFile;
  if constexpr (HasFile<typename Operation::Reply>) {
    if (status == WireStatus::ok) named = core::FileId{reply.attr.id};
  }
  files_.push_back(named);
  if (status == WireStatus::ok || status == WireStatus::locked) {
    append_record(records_, static_cast<U16>(status), reply);
  } else {
    append_record(records_, static_cast<U16>(status), Nothing{});
  }
  return status;
}

WireStatus OperationRun::one(const RecordView& record) {
  switch (record.code) {
#define STOA_NATIVE_OPERATION(code, name, kind, arguments, reply) \
  case code:                                                      \
    return run_one<operations::name>(record, op_##name);
#include "frontends/native/protocol/operations.def"
    default:
      files_.push_back(core::kNoFile);
      append_record(records_, static_cast<U16>(WireStatus::not_supported), Nothing{});
      return WireStatus::not_supported;
  }
}

}  // namespace stoa::native

#include "frontends/nfs/rpc/call_handler.h"

#include <algorithm>
#include <atomic>

#include "base/crc32c.h"
#include "frontends/nfs/rpc/record_mark.h"

namespace stoa::rpc {
namespace {

using wire::Decoded;
using wire::Ran;

constexpr std::byte kPadding[4]{};

std::atomic<std::uint64_t> g_handler_number{0};

void finish_frame(ReplyBuffer& out, std::size_t begin, std::size_t more = 0) {
  XdrWriter(out).patch_u32(begin, kLastFragment | static_cast<std::uint32_t>(out.size() - begin - kMarkBytes + more));
}

CallKey key_of(const wire::Peer& peer, const wire::Record& record, const DecodedCall& call) {
  const CallHeader& header = call.header;
  CallKey key{peer.address, header.xid, header.program, header.procedure, 0, 0};
  if (call.tag.gss == nullptr) {
    key.size = static_cast<std::uint32_t>(record.bytes.size());
    key.checksum = crc32c(record.bytes);
  } else {
    // Sent again, it has another sequence number and other wrapping (RFC 2203 5.3.3.1).
    const std::string_view who = header.credential.principal;
    key.size = static_cast<std::uint32_t>(header.arguments.size());
    key.checksum = crc32c(header.arguments) ^ crc32c(std::as_bytes(std::span(who.data(), who.size())));
  }
  return key;
}

}  // namespace

CallHandler::CallHandler(RpcProtocol& rpc)
    : rpc_(rpc),
      served_([&rpc] {
        std::vector<Served> served;
        for (const Program* program : rpc.service.programs.list)
          served.push_back({program->number(), program->version_low(), program->version_high(), program->procedures()});
        return served;
      }()),
      runner_(rpc.service.programs.make_runner()),
      next_request_id_(g_handler_number.fetch_add(1) << 48) {}

// --- decode

Decoded CallHandler::decode(Connection& connection, const wire::Record& record, Clock::time_point now,
                            DecodedCall& call, ReplyBuffer& out) {
  if (connection.session.take_reply(record.bytes)) return Decoded::kDone;
  CallHeader& header = call.header;
  if (!decode_call(record.bytes, header)) return Decoded::kBroken;
  if (header.rpc_version != kRpcVersion) {
    refuse(call, out, [&](XdrWriter& w) { encode_rpc_mismatch(w, header.xid); });
    return Decoded::kDone;
  }
  if (const auto refused = judge(connection, call, now, out)) return *refused;
  if (!find_program(call, out)) return Decoded::kDone;
  const Program& program = *rpc_.service.programs.list[call.program];
  call.exclusive = GssServer::makes_context(header);
  call.free = call.exclusive || (header.gss && header.gss->procedure == GssProcedure::kDestroy);
  if (call.free) {
    // Making a context takes long, and workers are kept free of long tasks.
    call.cost_class = call.exclusive ? CostClass::kHeavy : CostClass::kMemory;
  } else {
    call.cost_class = program.cost_class(header);
    call.idempotent = program.idempotent(header);
  }
  return Decoded::kRun;
}

std::optional<Decoded> CallHandler::judge(Connection& connection, DecodedCall& call, Clock::time_point now,
                                          ReplyBuffer& out) {
  CallHeader& header = call.header;
  if (header.auth == AuthStatus::kOk && header.gss && !rpc_.gss) header.auth = AuthStatus::kBadCredential;
  // A call that another worker hands over was judged by that one.
  if (header.auth == AuthStatus::kOk && header.gss && !GssServer::makes_context(header) && call.tag.gss == nullptr) {
    switch (rpc_.gss->judge(header, now, call.tag.gss)) {
      case GssServer::Verdict::kBelieved:
      case GssServer::Verdict::kDenied:
        break;
      case GssServer::Verdict::kGarbage:
        report_refused(connection, "RPCSEC_GSS call", "its arguments are not what was signed");
        refuse(call, out, [&](XdrWriter& w) { encode_accepted(w, header.xid, AcceptStatus::kGarbageArguments); });
        return Decoded::kDone;
      case GssServer::Verdict::kDrop:
        return Decoded::kDone;
    }
  }
  if (header.auth != AuthStatus::kOk) {
    // A context that has come to its end is no denial.
    if (header.auth != AuthStatus::kGssContextProblem) {
      const bool gss = header.auth == AuthStatus::kGssCredentialProblem;
      report_refused(connection, gss ? "RPCSEC_GSS call" : "RPC call",
                     gss ? "its context is not known, or its verifier is wrong"
                         : "its credential or verifier is not one that this server takes");
    }
    refuse(call, out, [&](XdrWriter& w) { encode_auth_error(w, header.xid, header.auth); });
    return Decoded::kDone;
  }
  if (call.tag.gss != nullptr) GssServer::show(*call.tag.gss, header);
  return std::nullopt;
}

bool CallHandler::find_program(DecodedCall& call, ReplyBuffer& out) {
  const CallHeader& header = call.header;
  // A program may exist in several versions, each with an entry of its own.
  std::uint32_t low = ~std::uint32_t{0}, high = 0;
  std::size_t index = 0;
  for (; index < served_.size(); ++index) {
    const Served& candidate = served_[index];
    if (candidate.number != header.program) continue;
    if (header.version >= candidate.version_low && header.version <= candidate.version_high) break;
    low = std::min(low, candidate.version_low);
    high = std::max(high, candidate.version_high);
  }
  if (index == served_.size()) {
    refuse(call, out, [&](XdrWriter& w) {
      if (low <= high) {
        encode_program_mismatch(w, header.xid, low, high);
      } else {
        encode_accepted(w, header.xid, AcceptStatus::kProgramUnavailable);
      }
    });
    return false;
  }
  const auto procedures = served_[index].procedures;
  if (header.procedure >= procedures.size() || procedures[header.procedure].name.empty()) {
    refuse(call, out, [&](XdrWriter& w) { encode_accepted(w, header.xid, AcceptStatus::kProcedureUnavailable); });
    return false;
  }
  call.program = index;
  call.metrics = rpc_.metrics.of(index, header.procedure);
  return true;
}

template <class Encode>
void CallHandler::refuse(const DecodedCall& call, ReplyBuffer& out, Encode encode) {
  rpc_.metrics.rejected.add();
  const std::size_t begin = out.size();
  XdrWriter writer(out);
  writer.u32(0);
  encode(writer);
  finish_frame(out, begin);
  wrap(call, out, begin);
}

void CallHandler::report_refused(const Connection& connection, std::string_view request,
                                 std::string_view reason) const {
  if (rpc_.service.report_refused) rpc_.service.report_refused(connection.peer, request, reason);
}

bool CallHandler::wrap(const DecodedCall& call, ReplyBuffer& out, std::size_t begin, std::size_t more) const {
  return call.tag.gss == nullptr || rpc_.gss->wrap(*call.tag.gss, out, begin, more);
}

void CallHandler::charge(Connection& connection, const DecodedCall& call, Clock::time_point now, wire::Charge& charge) {
  runner_->charge(call.program, {call.header, connection.peer, 0, now, nullptr}, charge);
}

void CallHandler::append_busy(const DecodedCall& call, ReplyBuffer& out) {
  const std::size_t begin = out.size();
  XdrWriter writer(out);
  writer.u32(0);
  encode_accepted(writer, call.header.xid, AcceptStatus::kSuccess);
  rpc_.service.programs.list[call.program]->encode_busy(call.header, writer);
  finish_frame(out, begin);
  wrap(call, out, begin);
  call.metrics->requests.add();
  call.metrics->errors.add();
}

// --- run

Outcome CallHandler::run_program(Connection& connection, wire::Record& record, DecodedCall& call, Clock::time_point now,
                                 core::RequestKey request, core::PendingDurability* pending, Reply& reply) {
  std::unique_ptr<KeptCall> kept;
  if (call.tag.waited != nullptr) kept = std::move(call.tag.waited->kept);
  const Call made{.header = call.header,
                  .peer = connection.peer,
                  .request_id = ++next_request_id_,
                  .now = now,
                  .pending = pending,
                  .back = &connection.session,
                  .scheduler = rpc_.service.scheduler,
                  .memory = record.memory ? &record.memory : nullptr,
                  .request = request,
                  .may_wait = call.may_wait,
                  .kept = &kept};
  const Outcome outcome = runner_->run(call.program, made, reply);
  call.waits_for = outcome.waits_for;
  if (outcome.waits_for == core::kNoFile) return outcome;
  if (call.tag.waited == nullptr) call.tag.waited = std::make_shared<WaitingCall>(rpc_.duplicates);
  call.tag.waited->kept = std::move(kept);
  call.tag.waited->duplicate = std::exchange(call.duplicate, std::nullopt);
  return outcome;
}

Outcome CallHandler::append_reply(Connection& connection, wire::Record& record, DecodedCall& call,
                                  Clock::time_point now, core::RequestKey request, core::PendingDurability* pending,
                                  ReplyBuffer& out, Reply& reply) {
  const std::size_t begin = out.size();
  XdrWriter writer(out);
  writer.u32(0);  // the record mark, filled in below
  if (call.exclusive) {
    const std::string refused = rpc_.gss->establish(call.header, connection.peer.address, now, writer);
    if (!refused.empty()) report_refused(connection, "RPCSEC_GSS token", refused);
    finish_frame(out, begin);
    call.metrics->requests.add();
    return {};
  }
  encode_accepted(writer, call.header.xid, AcceptStatus::kSuccess);
  if (call.ends_context()) {
    rpc_.gss->destroy(*call.tag.gss);
    finish_frame(out, begin);
    call.metrics->requests.add();
    return {};
  }
  const Outcome outcome = run_program(connection, record, call, now, request, pending, reply);
  if (outcome.waits_for != core::kNoFile) {
    out.truncate(begin);
    reply.slices.clear();
    reply.slice_bytes = 0;
    return outcome;
  }
  if (outcome.accept != AcceptStatus::kSuccess) {
    out.truncate(begin + kMarkBytes);
    reply.slices.clear();
    reply.slice_bytes = 0;
    encode_accepted(writer, call.header.xid, outcome.accept);
    rpc_.metrics.rejected.add();
  }
  const std::size_t tail = padded(reply.slice_bytes);
  finish_frame(out, begin, tail);
  call.metrics->requests.add();
  if (outcome.failed || outcome.accept != AcceptStatus::kSuccess) call.metrics->errors.add();
  call.metrics->bytes_in.add(record.bytes.size());
  call.metrics->bytes_out.add(out.size() - begin + tail);
  return outcome;
}

bool CallHandler::begin_once(const CallKey& key, DecodedCall& call, Clock::time_point now, ReplyBuffer& at_once) {
  if (call.tag.waited != nullptr) call.duplicate = std::exchange(call.tag.waited->duplicate, std::nullopt);
  if (call.duplicate) return true;
  using Verdict = DuplicateCache::Verdict;
  const std::size_t replay_at = at_once.size();
  const auto known = rpc_.duplicates.begin(key, now, [&](std::span<const std::byte> reply) { at_once.append(reply); });
  switch (known.verdict) {
    case Verdict::kReplay:
      wrap(call, at_once, replay_at);
      return false;
    case Verdict::kInProgress:
      return false;
    case Verdict::kNew:
      call.duplicate = known.ticket;
      return true;
    case Verdict::kUncached:
      return true;
  }
  return true;
}

Ran CallHandler::run(Connection& connection, wire::Record& record, DecodedCall& call, Clock::time_point now,
                     core::PendingDurability* pending, ReplyBuffer& out, ReplyBuffer& at_once) {
  core::RequestKey request;
  if (!call.idempotent) {
    const CallKey key = key_of(connection.peer, record, call);
    request = request_key(key);
    if (!begin_once(key, call, now, at_once)) return Ran::kAnswered;
  }
  const std::size_t begin = out.size();
  Reply reply{XdrWriter(out)};
  const Outcome outcome = append_reply(connection, record, call, now, request, pending, out, reply);
  if (outcome.waits_for != core::kNoFile) return Ran::kWaits;
  // It waits for nothing, so durable() will not be called (the unlocks of NLM).
  if (pending == nullptr && call.duplicate) rpc_.duplicates.finish(*call.duplicate, out.bytes().subspan(begin), now);
  return outcome.failed || outcome.accept != AcceptStatus::kSuccess ? Ran::kFailed : Ran::kReplied;
}

wire::Payload CallHandler::run_alone(Connection& connection, wire::Record& record, DecodedCall& call,
                                     Clock::time_point now, ReplyBuffer& out) {
  const std::size_t begin = out.size();
  // Wrapped results must be in memory.
  const bool wrapped = call.tag.gss != nullptr && call.tag.gss->service != GssService::kNone;
  Reply reply{.out = XdrWriter(out), .takes_slices = !wrapped};
  const Outcome outcome = append_reply(connection, record, call, now, {}, nullptr, out, reply);
  if (outcome.waits_for != core::kNoFile) return {.waits = true};
  if (!wrap(call, out, begin, padded(reply.slice_bytes))) return {.send = false};
  if (reply.slice_bytes == 0) return {};
  return {.slices = std::move(reply.slices),
          .tail = std::span(kPadding).first(padded(reply.slice_bytes) - reply.slice_bytes)};
}

void CallHandler::durable(DecodedCall& call, std::span<const std::byte> reply, Clock::time_point now) {
  if (call.duplicate) rpc_.duplicates.finish(*call.duplicate, reply, now);
}

void CallHandler::append_not_durable(DecodedCall& call, Errc why, ReplyBuffer& out) {
  if (call.duplicate) rpc_.duplicates.forget(*call.duplicate);
  call.metrics->errors.add();
  const std::size_t begin = out.size();
  XdrWriter writer(out);
  writer.u32(0);
  encode_accepted(writer, call.header.xid, AcceptStatus::kSuccess);
  rpc_.service.programs.list[call.program]->encode_not_durable(call.header, why, writer);
  finish_frame(out, begin);
  wrap(call, out, begin);
}

}  // namespace stoa::rpc

#include "frontends/native/server/message_handler.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "frontends/native/server/export_rules.h"
#include "frontends/native/server/message_weight.h"
#include "frontends/native/server/operation_run.h"

namespace stoa::native {
namespace {

using wire::Decoded;
using wire::Ran;

// Less content is copied behind the head of its reply.
constexpr std::size_t kSentInPlace = 32u << 10;

// Longer than any sync; shorter than clients are patient.
constexpr std::chrono::milliseconds kCallTime{50'000};

Header reply_header(const Header& call, MessageKind kind, WireStatus status) {
  return {.version = kVersion,
          .kind = static_cast<U16>(kind),
          .status = static_cast<U16>(status),
          .session = call.session,
          .slot = call.slot,
          .sequence = call.sequence,
          .credits = kSlots};
}

// What tells a message from another one: all of it but what a resend may say differently.
U32 checksum_of(const MessageView& view) {
  return crc32c(view.operations, crc32c(view.call, view.header.payload_crc));
}

// kMalformed: it is none. Nothing: it says nothing.
bool read_claim(const MessageView& view, std::optional<Claim>& claim) {
  if (view.call.empty()) return true;
  CallBlock block;
  std::span<const std::byte> bytes = view.call;
  const auto record = next_record(bytes);
  if (!record || !bytes.empty() || !read_record(*record, block)) return false;
  if (!block.client.empty() || block.groups.size() % sizeof(U32) != 0 || block.groups.size() / sizeof(U32) > kGroupsMax)
    return false;
  claim.emplace(Claim{.uid = block.uid, .gid = block.gid});
  for (std::size_t at = 0; at < block.groups.size(); at += sizeof(U32))
    claim->groups.push_back(load<U32>(reinterpret_cast<const std::byte*>(block.groups.data()) + at));
  return true;
}

}  // namespace

// --- decode

Decoded MessageHandler::decode(Connection& connection, const wire::Record& record, wire::Clock::time_point now,
                               DecodedMessage& message, wire::ReplyBuffer& out) {
  const Cut cut = cut_message(record.bytes, message.view);
  if (cut == Cut::kMalformed) return Decoded::kBroken;
  if (!connection.session.entered())
    return cut == Cut::kWhole ? decode_login(connection, message, now, out) : Decoded::kBroken;
  message.session = connection.session.session();
  if (connection.session.first_message()) native_.sessions.attach(*message.session, connection.weak_from_this());
  if (static_cast<MessageKind>(message.view.header.kind) != MessageKind::kCall)
    return decode_other(connection, message.view, now, out);
  const auto refuse = [&](WireStatus why) {
    out.append(refusal(message, why));
    return Decoded::kDone;
  };
  if (message.view.header.session != message.session->id || message.session->ended.load())
    return refuse(WireStatus::bad_session);
  // Before a slot counts it: it is sent again over a better channel. What has been let in is not asked again.
  if (!message.tag.admitted) {
    const WireStatus why = channel_refusal(connection, now);
    if (why != WireStatus::ok) {
      report(connection, message, why);
      return refuse(why);
    }
    message.tag.admitted = true;
  }
  SessionTable::heard(*message.session, now);
  if (cut == Cut::kBadChecksum) return refuse(WireStatus::bad_checksum);
  if (!weigh(message)) return refuse(WireStatus::malformed);
  // Before a slot counts it.
  if (std::optional<Claim> claim; !read_claim(message.view, claim)) return refuse(WireStatus::malformed);
  return Decoded::kRun;
}

Decoded MessageHandler::decode_login(Connection& connection, DecodedMessage& message, wire::Clock::time_point now,
                                     wire::ReplyBuffer& out) {
  if (!message.tag.logs_in) {
    const Decoded step = connection.session.step(native_, connection.peer, message.view, *snapshot_, now, out);
    if (step != Decoded::kRun) return step;
    message.tag.logs_in = true;
  }
  // As over NFS: it takes long, and workers are kept free of long tasks.
  message.cost_class = wire::CostClass::kHeavy;
  message.exclusive = message.free = true;
  return Decoded::kRun;
}

WireStatus MessageHandler::channel_refusal(const Connection& connection, wire::Clock::time_point now) const {
  if (connection.session.expired(now)) return WireStatus::ticket_expired;
  const SessionKey& key = connection.session.session()->key;
  const core::Export* const entry = snapshot_->find_export(key.through);
  if (entry == nullptr || connection.tls != nullptr) return WireStatus::ok;
  if (needs_tls(*entry)) return WireStatus::tls_required;
  const bool by_ticket = key.principal.kind == KeyKind::kKerberos;
  return by_ticket && kerberos_rule(*entry) == KerberosRule::kOverTls ? WireStatus::kerberos_needs_tls : WireStatus::ok;
}

Decoded MessageHandler::decode_other(Connection& connection, const MessageView& view, wire::Clock::time_point now,
                                     wire::ReplyBuffer& out) {
  const std::shared_ptr<Session>& session = connection.session.session();
  const auto kind = static_cast<MessageKind>(view.header.kind);
  if (kind != MessageKind::kPing && kind != MessageKind::kGoodbye) return Decoded::kBroken;
  const bool ours = view.header.session == session->id && !session->ended.load();
  const bool expired = connection.session.expired(now);
  if (ours && kind == MessageKind::kPing && !expired) SessionTable::heard(*session, now);
  if (ours && kind == MessageKind::kGoodbye) native_.sessions.end(*session);
  const WireStatus status = !ours ? WireStatus::bad_session : expired ? WireStatus::ticket_expired : WireStatus::ok;
  Header pong = reply_header(view.header, MessageKind::kPong, status);
  pong.flags = session->leases.flags(native_.opens);
  out.append(encode_message(pong, {}, {}, {}));
  return Decoded::kDone;
}

Bytes MessageHandler::refusal(const DecodedMessage& message, WireStatus why) {
  native_.metrics.refused.add();
  Header header = reply_header(message.view.header, MessageKind::kReply, why);
  header.flags = message.session->leases.flags(native_.opens);
  return encode_message(header, {}, {}, {});
}

void MessageHandler::append_busy(const DecodedMessage& message, wire::ReplyBuffer& out) {
  out.append(refusal(message, WireStatus::busy));
}

void MessageHandler::charge(Connection& connection, const DecodedMessage& message, wire::Clock::time_point now,
                            wire::Charge& charge) {
  const core::QosTable* const table = snapshot_->qos_classes();
  core::OpContext ctx;
  if (table == nullptr || enter(connection, message, now, ctx) != WireStatus::ok) return;
  of_directories_.clear();
  const bool named = !is_result(message.priced_file) && message.priced_file != File{};
  const core::FileId file = named ? core::FileId{static_cast<U64>(message.priced_file)} : ctx.root;
  // A file that is gone is the operation's to tell.
  if (table->has_directories()) (void)native_.ns.find_qos_classes(ctx, file, *table, of_directories_);
  table->compose_path({.protocol = core::Protocol::kNative,
                       .through = message.session->key.through,
                       .address = connection.peer.address,
                       .cred = &ctx.cred},
                      of_directories_, charge.path);
  charge.price = message.price;
}

// --- run

WireStatus MessageHandler::enter(Connection& connection, const DecodedMessage& message, wire::Clock::time_point now,
                                 core::OpContext& ctx) {
  const SessionKey& key = message.session->key;
  const core::Export* const entry = snapshot_->find_export(key.through);
  if (entry == nullptr || !is_published(*entry)) return WireStatus::no_export;
  const core::ClientRule* const rule = entry->rule_for(connection.peer.address);
  if (rule == nullptr) return WireStatus::no_rule;
  std::optional<Claim> claim;
  if (!read_claim(message.view, claim)) return WireStatus::malformed;
  const bool host = key.principal.kind == KeyKind::kHost;
  if (host != claim.has_value()) return WireStatus::not_allowed;
  // A key that was taken away meanwhile opens nothing more.
  const bool by_ticket = key.principal.kind == KeyKind::kKerberos;
  if (by_ticket && kerberos_rule(*entry) == KerberosRule::kNo) return WireStatus::kerberos_refused;
  const std::string& shown = connection.session.key();
  const bool known = host        ? native_.host_keys.find(shown).has_value()
                     : by_ticket ? true
                                 : snapshot_->find_key(shown).first != nullptr;
  if (!known) return WireStatus::wrong_key;
  if (!identify(*snapshot_, *rule, native_.tickets.realm, key.principal, claim.value_or(Claim{}), ctx.cred))
    return by_ticket ? WireStatus::no_user : WireStatus::wrong_key;
  ctx.protocol = core::Protocol::kNative;
  ctx.client = connection.peer.text;
  ctx.holder = message.session->holder;
  ctx.reclaims = !message.session->reclaimed.load() && native_.opens.in_grace() &&
                 native_.opens.may_reclaim(core::Protocol::kNative, key.stable_name());
  ctx.root = entry->root;
  ctx.read_only = entry->read_only || rule->read_only;
  const std::chrono::milliseconds asked{message.view.header.deadline_ms};
  ctx.deadline = Deadline(now + (asked.count() == 0 ? kCallTime : std::min(asked, kCallTime)));
  return WireStatus::ok;
}

void MessageHandler::report(const Connection& connection, const DecodedMessage& message, WireStatus why) {
  // A ticket that has come to its end is no denial.
  if (why == WireStatus::malformed || why == WireStatus::ticket_expired) return;
  const core::Export* const entry = snapshot_->find_export(message.session->key.through);
  connection.session.report(native_, connection.peer, "call through", entry == nullptr ? core::kRootId : entry->root,
                            audit_reason(why));
}

bool MessageHandler::begin(DecodedMessage& message, wire::ReplyBuffer& out) {
  const Header& header = message.view.header;
  const Slots::Begun begun =
      message.session->slots.begin(header.slot, header.sequence, checksum_of(message.view), message.changes);
  switch (begun.verdict) {
    case Slots::Verdict::kRun:
      message.began = true;
      return true;
    case Slots::Verdict::kRunAgain:
      return true;
    case Slots::Verdict::kReplay:
      native_.metrics.replays.add();
      out.append(begun.reply);
      return false;
    case Slots::Verdict::kRefused:
      break;
  }
  out.append(refusal(message, begun.status));
  return false;
}

Bytes MessageHandler::Reply::whole() const {
  Bytes frame = head;
  frame.insert(frame.end(), payload.bytes().begin(), payload.bytes().end());
  return frame;
}

MessageHandler::Reply MessageHandler::answer(Connection& connection, wire::Record& record, DecodedMessage& message,
                                             wire::Clock::time_point now, core::PendingDurability* pending) {
  message.waits_for = core::kNoFile;
  core::OpContext ctx;
  if (const WireStatus refused = enter(connection, message, now, ctx); refused != WireStatus::ok) {
    report(connection, message, refused);
    return {.head = refusal(message, refused)};
  }
  ctx.defers = pending != nullptr;
  OperationRun run{native_, ctx, *message.session, message, &record.memory};
  run.all();
  if (message.may_wait && run.waits_for() != core::kNoFile) {
    message.waits_for = run.waits_for();
    if (std::exchange(message.began, false)) message.session->slots.put_back(message.view.header.slot);
    return {};
  }
  if (pending != nullptr) pending->merge(ctx.pending);
  native_.metrics.messages.add();
  Header header = reply_header(message.view.header, MessageKind::kReply, WireStatus::ok);
  header.operation_count = static_cast<U32>(run.count());
  header.flags = message.session->leases.flags(native_.opens);
  Reply reply{.head = encode_head(header, {}, run.records(), run.payload())};
  reply.payload = run.take_payload();
  return reply;
}

void MessageHandler::finish_slot(const DecodedMessage& message, const Reply& reply) {
  if (!message.began) return;
  Slots& slots = message.session->slots;
  if (!message.changes) return slots.finish(message.view.header.slot, nullptr);
  const Bytes kept = reply.whole();
  slots.finish(message.view.header.slot, &kept);
}

Ran MessageHandler::run(Connection& connection, wire::Record& record, DecodedMessage& message,
                        wire::Clock::time_point now, core::PendingDurability* pending, wire::ReplyBuffer& out,
                        wire::ReplyBuffer& at_once) {
  if (!begin(message, at_once)) return Ran::kAnswered;
  const Reply reply = answer(connection, record, message, now, pending);
  if (message.waits_for != core::kNoFile) return Ran::kWaits;
  out.append(reply.head);
  out.append(reply.payload.bytes());
  // It waits for nothing, so durable() will not be called.
  if (pending == nullptr) finish_slot(message, reply);
  return Ran::kReplied;
}

wire::Payload MessageHandler::run_alone(Connection& connection, wire::Record& record, DecodedMessage& message,
                                        wire::Clock::time_point now, wire::ReplyBuffer& out) {
  if (message.tag.logs_in) {
    connection.session.prove_ticket(native_, connection.peer, message.view, *snapshot_, now, out);
    return {};
  }
  if (!begin(message, out)) return {};
  core::PendingDurability pending;
  Reply reply = answer(connection, record, message, now, &pending);
  if (message.waits_for != core::kNoFile) return {.waits = true};
  if (!pending.empty() && !native_.sync(pending)) reply = {.head = refusal(message, WireStatus::not_durable)};
  finish_slot(message, reply);
  out.append(reply.head);
  if (reply.payload.size() < kSentInPlace) {
    out.append(reply.payload.bytes());
    return {};
  }
  const auto keep = std::make_shared<const wire::ReplyBuffer>(std::move(reply.payload));
  wire::Payload payload;
  payload.slices.push_back({.bytes = keep->bytes(), .length = keep->size(), .keep = keep});
  return payload;
}

void MessageHandler::durable(DecodedMessage& message, std::span<const std::byte> reply, wire::Clock::time_point) {
  if (!message.began) return;
  const Bytes kept(reply.begin(), reply.end());
  message.session->slots.finish(message.view.header.slot, message.changes ? &kept : nullptr);
}

void MessageHandler::append_not_durable(DecodedMessage& message, Errc, wire::ReplyBuffer& out) {
  const Bytes reply = refusal(message, WireStatus::not_durable);
  out.append(reply);
  if (message.began) message.session->slots.finish(message.view.header.slot, message.changes ? &reply : nullptr);
}

}  // namespace stoa::native

#include "frontends/native/server/channel_login.h"

#include "frontends/kerberos/principals.h"
#include "frontends/native/protocol/login.h"
#include "frontends/native/server/export_rules.h"
#include "frontends/native/server/native_protocol.h"
#include "frontends/native/server/ticket_proof.h"
#include "frontends/wire/connection.h"

namespace stoa::native {
namespace {

using wire::Decoded;

void append_frame(wire::ReplyBuffer& out, const Bytes& frame) {
  out.append(frame);
}

// The one record that a message of the log-in has.
template <class Layout>
bool read_single(const MessageView& message, Layout& layout) {
  std::span<const std::byte> records = message.operations;
  const auto record = next_record(records);
  return record && records.empty() && message.payload.empty() && read_record(*record, layout);
}

struct FoundSecret {
  std::string secret;
  Principal principal;
};

bool is_sound(const Hello& said) {
  if (said.nonce.size() != kNonceBytes || said.client_id.size() != kClientIdBytes) return false;
  if (said.export_name.size() > core::kNameBytesMax) return false;
  switch (static_cast<KeyKind>(said.key_kind)) {
    case KeyKind::kUser:
    case KeyKind::kHost:
      return !said.key.empty() && said.key.size() <= 128;
    case KeyKind::kKerberos:
      return said.key.empty();
  }
  return false;
}

// Nothing: there is no such key. The proof is compared all the same, with a secret that nobody has.
std::optional<FoundSecret> find_secret(const NativeProtocol& native, const core::RegistrySnapshot& registry,
                                       KeyKind kind, std::string_view key) {
  if (kind == KeyKind::kHost) {
    auto found = native.host_keys.find(key);
    if (!found) return std::nullopt;
    return FoundSecret{std::move(found->secret), {kind, std::move(found->name)}};
  }
  const auto [user, found] = registry.find_key(key);
  if (user == nullptr) return std::nullopt;
  return FoundSecret{found->secret_key, {kind, user->name}};
}

}  // namespace

std::span<const std::byte> ChannelLogin::binding() const {
  if (connection_.tls == nullptr) return {};
  return connection_.tls->binding();
}

Decoded ChannelLogin::step(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                           const core::RegistrySnapshot& registry, wire::Clock::time_point now,
                           wire::ReplyBuffer& out) {
  const auto kind = static_cast<MessageKind>(message.header.kind);
  const Stage stage = stage_.load(std::memory_order_acquire);
  if (stage == Stage::kFresh && kind == MessageKind::kHello) return hello(native, peer, message, now, out);
  if (stage != Stage::kChallenged || kind != MessageKind::kProof) return Decoded::kBroken;
  if (kind_ != KeyKind::kKerberos) return proof(native, peer, message, registry, now, out);
  if (TicketProof given; !read_single(message, given)) return Decoded::kBroken;
  stage_.store(Stage::kProving, std::memory_order_release);
  return Decoded::kRun;
}

Decoded ChannelLogin::refuse(WireStatus why, std::uint32_t wait_ms, wire::ReplyBuffer& out) {
  stage_.store(Stage::kRefused, std::memory_order_release);
  append_frame(out, encode_single(MessageKind::kRefused, Refused{.wait_ms = wait_ms}, why));
  return Decoded::kDone;
}

void ChannelLogin::report(NativeProtocol& native, const wire::Peer& peer, std::string_view request,
                          core::FileId directory, std::string_view reason) const {
  const char* const what = kind_ == KeyKind::kHost   ? "host key "
                           : kind_ == KeyKind::kUser ? "access key "
                                                     : "principal ";
  const std::string claimed = kind_ == KeyKind::kKerberos && key_.empty() ? "a Kerberos ticket" : what + key_;
  const std::string asked = std::string(request) + " /" + export_name_;
  native.ns.refused({.protocol = core::Protocol::kNative, .client = peer.text},
                    {.request = asked, .reason = reason, .claimed = claimed, .directory = directory});
}

Decoded ChannelLogin::hello(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                            wire::Clock::time_point now, wire::ReplyBuffer& out) {
  Hello said;
  if (!read_single(message, said) || !is_sound(said)) return Decoded::kBroken;
  if (said.oldest_version > kVersion || said.newest_version < kVersion)
    return refuse(WireStatus::no_common_version, 0, out);
  if (binding().empty() && native.security.required()) return refuse(WireStatus::tls_required, 0, out);
  if (said.key_kind == static_cast<U32>(KeyKind::kKerberos) && native.tickets.mechanism == nullptr)
    return refuse(WireStatus::no_kerberos, 0, out);
  if (const auto wait = native.throttle.wait(wire::host_of(peer.address), now); wait.count() > 0) {
    native.metrics.logins_slowed.add();
    return refuse(WireStatus::busy, static_cast<std::uint32_t>(wait.count()), out);
  }
  hello_.assign(message.operations.begin(), message.operations.end());
  kind_ = static_cast<KeyKind>(said.key_kind);
  key_ = said.key;
  export_name_ = said.export_name;
  client_id_ = said.client_id;
  known_session_ = said.session;

  const Nonce nonce = make_nonce();
  const Challenge challenge{
      .version = kVersion, .offers_tls = native.security.context() != nullptr, .nonce = as_text(nonce)};
  append_record(challenge_, 0, challenge);
  append_frame(out, encode_single(MessageKind::kChallenge, challenge));
  stage_.store(Stage::kChallenged, std::memory_order_release);
  return Decoded::kDone;
}

Decoded ChannelLogin::proof(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                            const core::RegistrySnapshot& registry, wire::Clock::time_point now,
                            wire::ReplyBuffer& out) {
  Proof given;
  if (!read_single(message, given)) return Decoded::kBroken;
  auto found = find_secret(native, registry, kind_, key_);
  const std::string nobodys(as_text(make_nonce()));
  const Mac wanted = prove(ProofOf::kClient, found ? found->secret : nobodys, {hello_, challenge_}, binding());
  if (!same(wanted, given.mac) || !found)
    return refuse_proof(native, peer, registry, WireStatus::wrong_key, "wrong key", now, out);
  native.throttle.succeeded(wire::host_of(peer.address));
  Bytes records = enter(native, peer, registry, std::move(found->principal), now, out);
  if (records.empty()) return Decoded::kDone;
  const Mac mac = prove(ProofOf::kServer, found->secret, {hello_, challenge_, message.operations, records}, binding());
  append_record(records, 0, Proof{.mac = as_text(mac)});
  return welcome(native, records, out);
}

void ChannelLogin::prove_ticket(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                                const core::RegistrySnapshot& registry, wire::Clock::time_point now,
                                wire::ReplyBuffer& out) {
  TicketProof given;
  (void)read_single(message, given);  // step() has read it
  TicketVerdict verdict = judge_ticket(*native.tickets.mechanism, as_bytes(given.token),
                                       digest(ProofOf::kClient, {hello_, challenge_}, binding()));
  if (verdict.status != WireStatus::ok) {
    refuse_proof(native, peer, registry, verdict.status, verdict.reason, now, out);
    return;
  }
  native.throttle.succeeded(wire::host_of(peer.address));
  key_ = verdict.principal;
  expires_ = now + verdict.lifetime;
  Bytes records = enter(native, peer, registry, {kind_, std::move(verdict.principal)}, now, out);
  if (records.empty()) return;
  wire::ReplyBuffer mic;
  const Digest said = digest(ProofOf::kServer, {hello_, challenge_, message.operations, records}, binding());
  if (!verdict.context->append_mic(to_sign(said, verdict.token), mic)) {
    refuse(WireStatus::ticket_refused, 0, out);
    return;
  }
  append_record(records, 0, TicketProof{.token = as_text(verdict.token), .mic = as_text(mic.bytes())});
  welcome(native, records, out);
}

Decoded ChannelLogin::refuse_proof(NativeProtocol& native, const wire::Peer& peer,
                                   const core::RegistrySnapshot& registry, WireStatus why, std::string_view reason,
                                   wire::Clock::time_point now, wire::ReplyBuffer& out) {
  native.throttle.failed(wire::host_of(peer.address), now);
  native.metrics.logins_failed.add();
  const core::Export* const asked = registry.find_export(export_name_);
  report(native, peer, "log-in to", asked == nullptr ? core::kRootId : asked->root, reason);
  return refuse(why, 0, out);
}

WireStatus ChannelLogin::refusal_of(const core::Export& entry, const core::ClientRule* rule,
                                    const NativeProtocol& native, const core::RegistrySnapshot& registry) const {
  const bool plain = binding().empty();
  if (rule == nullptr) return WireStatus::no_rule;
  if (plain && needs_tls(entry)) return WireStatus::tls_required;
  if (kind_ != KeyKind::kKerberos) return WireStatus::ok;
  const KerberosRule takes = kerberos_rule(entry);
  if (takes == KerberosRule::kNo) return WireStatus::kerberos_refused;
  if (plain && takes == KerberosRule::kOverTls) return WireStatus::kerberos_needs_tls;
  const bool known = kerberos::user_of_principal(registry, native.tickets.realm, key_) != nullptr;
  return known ? WireStatus::ok : WireStatus::no_user;
}

Bytes ChannelLogin::enter(NativeProtocol& native, const wire::Peer& peer, const core::RegistrySnapshot& registry,
                          Principal principal, wire::Clock::time_point now, wire::ReplyBuffer& out) {
  const auto refused = [&](WireStatus why, std::uint32_t wait_ms = 0) {
    refuse(why, wait_ms, out);
    return Bytes{};
  };
  const core::Export* const entry = registry.find_export(export_name_);
  if (entry == nullptr || !is_published(*entry)) return refused(WireStatus::no_export);
  const core::ClientRule* const rule = entry->rule_for(peer.address);
  if (const WireStatus why = refusal_of(*entry, rule, native, registry); why != WireStatus::ok) {
    report(native, peer, "log-in to", entry->root, audit_reason(why));
    return refused(why);
  }
  const SessionKey key{.client_id = client_id_, .principal = std::move(principal), .through = entry->id};
  const auto entered = native.sessions.enter(key, peer.text, now);
  if (entered.session == nullptr) return refused(WireStatus::busy, 1000);
  session_ = entered.session;
  const std::string name = key.stable_name();
  const Welcome welcome{
      .session = session_->id,
      .boot_verifier = native.ns.boot_verifier(),
      .volume = native.ns.volume_id(),
      .root = static_cast<U64>(entry->root),
      .resumed = known_session_ == session_->id,
      .may_reclaim = native.opens.may_reclaim(core::Protocol::kNative, name) && !session_->reclaimed.load(),
      .slots = kSlots,
      .credits = kSlots,
      .message_bytes_max = static_cast<U32>(kMessageBytesMax),
      .cached_reply_bytes_max = static_cast<U32>(kCachedReplyBytesMax),
      .lease_seconds = static_cast<U32>(native.sessions.lease().count()),
      .read_only = entry->read_only || rule->read_only};
  Bytes records;
  append_record(records, 0, welcome);
  return records;
}

Decoded ChannelLogin::welcome(NativeProtocol& native, const Bytes& records, wire::ReplyBuffer& out) {
  append_frame(out, encode_message({.version = kVersion,
                                    .kind = static_cast<U16>(MessageKind::kWelcome),
                                    .session = session_->id,
                                    .credits = kSlots,
                                    .operation_count = 2},
                                   {}, records, {}));
  native.metrics.logins.add();
  stage_.store(Stage::kEntered, std::memory_order_release);
  return Decoded::kDone;
}

}  // namespace stoa::native

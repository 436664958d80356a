#include "frontends/native/server/channel_login.h"

#include "frontends/native/protocol/login.h"
#include "frontends/native/server/export_rules.h"
#include "frontends/native/server/native_protocol.h"
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
  if (stage_ == Stage::kFresh && kind == MessageKind::kHello) return hello(native, peer, message, now, out);
  if (stage_ == Stage::kChallenged && kind == MessageKind::kProof)
    return proof(native, peer, message, registry, now, out);
  return Decoded::kBroken;
}

Decoded ChannelLogin::refuse(WireStatus why, std::uint32_t wait_ms, wire::ReplyBuffer& out) {
  stage_ = Stage::kRefused;
  append_frame(out, encode_single(MessageKind::kRefused, Refused{.wait_ms = wait_ms}, why));
  return Decoded::kDone;
}

void ChannelLogin::report(NativeProtocol& native, const wire::Peer& peer, std::string_view request,
                          core::FileId directory, std::string_view reason) const {
  const std::string claimed = (kind_ == KeyKind::kHost ? "host key " : "access key ") + key_;
  const std::string what = std::string(request) + " /" + export_name_;
  native.ns.refused({.protocol = core::Protocol::kNative, .client = peer.text},
                    {.request = what, .reason = reason, .claimed = claimed, .directory = directory});
}

Decoded ChannelLogin::hello(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                            wire::Clock::time_point now, wire::ReplyBuffer& out) {
  Hello said;
  if (!read_single(message, said)) return Decoded::kBroken;
  const bool sound =
      said.nonce.size() == kNonceBytes && said.client_id.size() == kClientIdBytes && !said.key.empty() &&
      said.key.size() <= 128 && said.export_name.size() <= core::kNameBytesMax &&
      (said.key_kind == static_cast<U32>(KeyKind::kUser) || said.key_kind == static_cast<U32>(KeyKind::kHost));
  if (!sound) return Decoded::kBroken;
  if (said.oldest_version > kVersion || said.newest_version < kVersion)
    return refuse(WireStatus::no_common_version, 0, out);
  if (binding().empty() && native.security.required()) return refuse(WireStatus::tls_required, 0, out);
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
  stage_ = Stage::kChallenged;
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
  if (!same(wanted, given.mac) || !found) {
    native.throttle.failed(wire::host_of(peer.address), now);
    native.metrics.logins_failed.add();
    const core::Export* const asked = registry.find_export(export_name_);
    report(native, peer, "log-in to", asked == nullptr ? core::kRootId : asked->root, "wrong key");
    return refuse(WireStatus::wrong_key, 0, out);
  }
  native.throttle.succeeded(wire::host_of(peer.address));
  return enter(native, peer, registry, found->secret, std::move(found->principal), message.operations, now, out);
}

Decoded ChannelLogin::enter(NativeProtocol& native, const wire::Peer& peer, const core::RegistrySnapshot& registry,
                            std::string_view secret, Principal principal, std::span<const std::byte> proof_record,
                            wire::Clock::time_point now, wire::ReplyBuffer& out) {
  const core::Export* const entry = registry.find_export(export_name_);
  if (entry == nullptr || !is_published(*entry)) return refuse(WireStatus::no_export, 0, out);
  const core::ClientRule* const rule = entry->rule_for(peer.address);
  if (rule == nullptr) {
    report(native, peer, "log-in to", entry->root, "the export has no rule for this address");
    return refuse(WireStatus::no_rule, 0, out);
  }
  if (needs_tls(*entry) && binding().empty()) {
    report(native, peer, "log-in to", entry->root, "the export requires TLS");
    return refuse(WireStatus::tls_required, 0, out);
  }
  const SessionKey key{.client_id = client_id_, .principal = std::move(principal), .through = entry->id};
  const auto entered = native.sessions.enter(key, peer.text, now);
  if (entered.session == nullptr) return refuse(WireStatus::busy, 1000, out);
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
  const Mac mac = prove(ProofOf::kServer, secret, {hello_, challenge_, proof_record, records}, binding());
  append_record(records, 0, Proof{.mac = as_text(mac)});
  append_frame(out, encode_message({.version = kVersion,
                                    .kind = static_cast<U16>(MessageKind::kWelcome),
                                    .session = session_->id,
                                    .credits = kSlots,
                                    .operation_count = 2},
                                   {}, records, {}));
  native.metrics.logins.add();
  stage_ = Stage::kEntered;
  return Decoded::kDone;
}

}  // namespace stoa::native

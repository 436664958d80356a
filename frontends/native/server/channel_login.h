// The log-in of one connection, and the session that it is a channel of.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/api/registry.h"
#include "frontends/native/protocol/message.h"
#include "frontends/native/server/session.h"
#include "frontends/wire/peer.h"
#include "frontends/wire/protocol.h"
#include "frontends/wire/reply_buffer.h"

namespace stoa::native {

struct NativeProtocol;

// Steps are taken by the worker that holds the receive side, but prove_ticket(). What it sets is set once, before
// entered().
class ChannelLogin {
 public:
  explicit ChannelLogin(wire::Connection<NativeProtocol>& connection) : connection_(connection) {}
  bool worth_keeping() const { return entered(); }
  void closed() {}

  // One message of the log-in; appends the answer. kBroken: the peer does not speak the protocol. kRun: it is a ticket,
  // which takes long to judge: prove_ticket() is to be called for it, once, by any thread, and appends the answer.
  wire::Decoded step(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                     const core::RegistrySnapshot& registry, wire::Clock::time_point now, wire::ReplyBuffer& out);
  void prove_ticket(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                    const core::RegistrySnapshot& registry, wire::Clock::time_point now, wire::ReplyBuffer& out);

  // The log-in has succeeded.
  bool entered() const { return stage_.load(std::memory_order_acquire) == Stage::kEntered; }
  // The rest of what is asked here is known once entered.
  // Whether the ticket of the log-in is at its end.
  bool expired(wire::Clock::time_point now) const { return now >= expires_; }
  const std::shared_ptr<Session>& session() const { return session_; }
  const std::string& key() const { return key_; }  // that was shown; by Kerberos the principal
  // Whether this is the first message behind the log-in: from then on the server may speak unasked.
  bool first_message() { return !spoken_.load(std::memory_order_relaxed) && !spoken_.exchange(true); }
  // Tells audit that something was refused. `request`: "log-in to", and the like; the export is put behind it.
  void report(NativeProtocol& native, const wire::Peer& peer, std::string_view request, core::FileId directory,
              std::string_view reason) const;

 private:
  enum class Stage : std::uint8_t { kFresh, kChallenged, kProving, kEntered, kRefused };

  wire::Decoded hello(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                      wire::Clock::time_point now, wire::ReplyBuffer& out);
  wire::Decoded proof(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                      const core::RegistrySnapshot& registry, wire::Clock::time_point now, wire::ReplyBuffer& out);
  // Of a client that has proven itself: sets the session, and gives the record of Welcome. Empty: it is refused, and
  // that was appended.
  Bytes enter(NativeProtocol& native, const wire::Peer& peer, const core::RegistrySnapshot& registry,
              Principal principal, wire::Clock::time_point now, wire::ReplyBuffer& out);
  // Why the export takes no client that has proven to be this one; ok: it does.
  WireStatus refusal_of(const core::Export& entry, const core::ClientRule* rule, const NativeProtocol& native,
                        const core::RegistrySnapshot& registry) const;
  wire::Decoded welcome(NativeProtocol& native, const Bytes& records, wire::ReplyBuffer& out);
  // The proof is none: slowed, and told to audit.
  wire::Decoded refuse_proof(NativeProtocol& native, const wire::Peer& peer, const core::RegistrySnapshot& registry,
                             WireStatus why, std::string_view reason, wire::Clock::time_point now,
                             wire::ReplyBuffer& out);
  wire::Decoded refuse(WireStatus why, std::uint32_t wait_ms, wire::ReplyBuffer& out);

  std::span<const std::byte> binding() const;  // of its TLS channel; empty: it is plain

  const wire::Connection<NativeProtocol>& connection_;
  std::atomic<Stage> stage_{Stage::kFresh};
  std::atomic<bool> spoken_{false};
  Bytes hello_, challenge_;  // records, as they were said
  KeyKind kind_ = KeyKind::kUser;
  std::string key_, export_name_, client_id_;
  U64 known_session_ = 0;
  wire::Clock::time_point expires_ = wire::Clock::time_point::max();
  std::shared_ptr<Session> session_;
};

}  // namespace stoa::native

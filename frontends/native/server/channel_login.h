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

// Steps are taken by the worker that holds the receive side. A session is set once, before any call is decoded.
class ChannelLogin {
 public:
  explicit ChannelLogin(wire::Connection<NativeProtocol>& connection) : connection_(connection) {}
  bool worth_keeping() const { return session_ != nullptr; }
  void closed() {}

  // One message of the log-in; appends the answer. kBroken: the peer does not speak the protocol.
  wire::Decoded step(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                     const core::RegistrySnapshot& registry, wire::Clock::time_point now, wire::ReplyBuffer& out);

  // Null before the log-in has succeeded.
  const std::shared_ptr<Session>& session() const { return session_; }
  const std::string& key() const { return key_; }  // that was shown
  // Whether this is the first message behind the log-in: from then on the server may speak unasked.
  bool first_message() { return !spoken_.load(std::memory_order_relaxed) && !spoken_.exchange(true); }
  // Tells audit that something was refused. `request`: "log-in to", and the like; the export is put behind it.
  void report(NativeProtocol& native, const wire::Peer& peer, std::string_view request, core::FileId directory,
              std::string_view reason) const;

 private:
  enum class Stage : std::uint8_t { kFresh, kChallenged, kEntered, kRefused };

  wire::Decoded hello(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                      wire::Clock::time_point now, wire::ReplyBuffer& out);
  wire::Decoded proof(NativeProtocol& native, const wire::Peer& peer, const MessageView& message,
                      const core::RegistrySnapshot& registry, wire::Clock::time_point now, wire::ReplyBuffer& out);
  wire::Decoded enter(NativeProtocol& native, const wire::Peer& peer, const core::RegistrySnapshot& registry,
                      std::string_view secret, Principal principal, std::span<const std::byte> proof_record,
                      wire::Clock::time_point now, wire::ReplyBuffer& out);
  wire::Decoded refuse(WireStatus why, std::uint32_t wait_ms, wire::ReplyBuffer& out);

  std::span<const std::byte> binding() const;  // of its TLS channel; empty: it is plain

  const wire::Connection<NativeProtocol>& connection_;
  Stage stage_ = Stage::kFresh;
  std::atomic<bool> spoken_{false};
  Bytes hello_, challenge_;  // records, as they were said
  KeyKind kind_ = KeyKind::kUser;
  std::string key_, export_name_, client_id_;
  U64 known_session_ = 0;
  std::shared_ptr<Session> session_;
};

}  // namespace stoa::native

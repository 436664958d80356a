// What one worker does with the messages of native clients.
#pragma once

#include "core/api/context.h"
#include "frontends/native/server/native_protocol.h"
#include "frontends/wire/connection.h"

namespace stoa::native {

class MessageHandler {
 public:
  using Connection = wire::Connection<NativeProtocol>;
  explicit MessageHandler(NativeProtocol& native) : native_(native) {}

  void refresh() { snapshot_ = native_.registry.snapshot(); }
  bool governs() const { return snapshot_->qos_classes() != nullptr; }
  wire::Decoded decode(Connection& connection, const wire::Record& record, wire::Clock::time_point now,
                       DecodedMessage& message, wire::ReplyBuffer& out);
  void charge(Connection& connection, const DecodedMessage& message, wire::Clock::time_point now, wire::Charge& charge);
  void append_busy(const DecodedMessage& message, wire::ReplyBuffer& out);
  wire::Ran run(Connection& connection, wire::Record& record, DecodedMessage& message, wire::Clock::time_point now,
                core::PendingDurability* pending, wire::ReplyBuffer& out, wire::ReplyBuffer& at_once);
  wire::Payload run_alone(Connection& connection, wire::Record& record, DecodedMessage& message,
                          wire::Clock::time_point now, wire::ReplyBuffer& out);
  void finish(const DecodedMessage&, wire::ReplyBuffer&, std::size_t) {}
  bool finishes(const DecodedMessage&) const { return false; }
  void took(const DecodedMessage&, std::chrono::nanoseconds time) {
    native_.metrics.latency.observe_ns(static_cast<std::uint64_t>(time.count()));
  }
  void durable(DecodedMessage& message, std::span<const std::byte> reply, wire::Clock::time_point now);
  void append_not_durable(DecodedMessage& message, Errc why, wire::ReplyBuffer& out);

 private:
  // Before the log-in has succeeded.
  wire::Decoded decode_login(Connection& connection, DecodedMessage& message, wire::Clock::time_point now,
                             wire::ReplyBuffer& out);
  // Of a session that has logged in: what is no call.
  wire::Decoded decode_other(Connection& connection, const MessageView& view, wire::Clock::time_point now,
                             wire::ReplyBuffer& out);
  // Why its channel brings no calls, whatever they ask for, as the rules are now; ok: it does.
  WireStatus channel_refusal(const Connection& connection, wire::Clock::time_point now) const;
  // Whether its slot lets it run; if not, what there is to answer is appended.
  bool begin(DecodedMessage& message, wire::ReplyBuffer& out);
  // The context for the caller, by the rules of the export as they are now. The status refuses the whole message.
  WireStatus enter(Connection& connection, const DecodedMessage& message, wire::Clock::time_point now,
                   core::OpContext& ctx);
  // A frame in two parts: large content is sent from where it was read to.
  struct Reply {
    Bytes head{};
    wire::ReplyBuffer payload{};
    Bytes whole() const;
  };
  // Runs the message. Empty, with `waits_for` set: it has met a recall and done nothing, and is to be run again.
  Reply answer(Connection& connection, wire::Record& record, DecodedMessage& message, wire::Clock::time_point now,
               core::PendingDurability* pending);
  // What it holds of its slot ends.
  static void finish_slot(const DecodedMessage& message, const Reply& reply);
  Bytes refusal(const DecodedMessage& message, WireStatus why);
  // Tells audit what channel_refusal() or enter() has refused.
  void report(const Connection& connection, const DecodedMessage& message, WireStatus why);

  NativeProtocol& native_;
  std::shared_ptr<const core::RegistrySnapshot> snapshot_;
  std::vector<qos::QosClass*> of_directories_;
};

}  // namespace stoa::native

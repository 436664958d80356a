// The native protocol as a protocol of frontends/wire.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "core/api/state.h"
#include "frontends/native/protocol/message.h"
#include "frontends/native/server/channel_login.h"
#include "frontends/native/server/host_keys.h"
#include "frontends/native/server/login_throttle.h"
#include "frontends/native/server/operation_metrics.h"
#include "frontends/native/server/server_security.h"
#include "frontends/native/server/session_table.h"
#include "frontends/native/server/ticket_proof.h"
#include "frontends/wire/framer.h"
#include "frontends/wire/protocol.h"
#include "qos/scheduler.h"

namespace stoa::native {

class MessageHandler;

// A message of a receive: cut, its operations counted and weighed.
struct DecodedMessage {
  struct Tag {
    bool logs_in = false;   // it is a ticket, to be judged
    bool admitted = false;  // its channel may bring calls: looked at once, when it comes
  };
  Tag tag{};
  wire::CostClass cost_class = wire::CostClass::kMemory;
  bool exclusive = false;
  bool free = false;
  bool may_wait = false;
  core::FileId waits_for = core::kNoFile;
  MessageView view{};
  std::vector<RecordView> operations{};
  bool changes = false;  // the session, or what is stored: not to be run twice
  qos::Price price{};
  File priced_file{};  // the first file, or directory of a name, that is told
  std::shared_ptr<Session> session{};
  bool began = false;  // its slot is to be finished
};

struct NativeProtocol {
  using Session = ChannelLogin;
  using Tag = DecodedMessage::Tag;
  using Request = DecodedMessage;
  using Handler = MessageHandler;

  NativeProtocol(core::Namespace& names, core::StateTable& table, const core::Registry& records, const HostKeys& keys,
                 qos::Scheduler* schedules, std::chrono::seconds lease, const ServerSecurity& secures,
                 ServerTickets knows, MetricRegistry& registry)
      : ns(names),
        opens(table),
        registry(records),
        host_keys(keys),
        qos_classes(schedules),
        security(secures),
        tickets(std::move(knows)),
        metrics(registry),
        sessions(table, lease, registry) {}

  // A frame that is none has a length beyond all limits, so the connection is closed.
  wire::Framer framer() const {
    return {.header_bytes = kFrameHeadBytes,
            .read = [](const std::byte* head) -> wire::Framer::Piece {
              return {.bytes = body_bytes(head).value_or(std::size_t{1} << 31), .last = true};
            },
            .payload_offset = payload_offset};
  }
  qos::Scheduler* scheduler() const { return qos_classes; }
  core::StateTable* state() const { return &opens; }
  std::shared_ptr<const tls::Context> tls() const { return security.context(); }
  Status sync(const core::PendingDurability& pending) const { return ns.sync({}, pending); }

  core::Namespace& ns;
  core::StateTable& opens;
  const core::Registry& registry;
  const HostKeys& host_keys;
  qos::Scheduler* const qos_classes;
  const ServerSecurity& security;
  const ServerTickets tickets;
  OperationMetrics metrics;
  LoginThrottle throttle;
  SessionTable sessions;
};

}  // namespace stoa::native

#include "frontends/native/fuzz/hostile_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"
#include "frontends/native/protocol/login.h"

namespace stoa::native {
namespace {

constexpr int kActionsMost = 48;  // of one input
constexpr int kPatienceMost = 4;  // a client that is to ask again waits a little longer each time
constexpr int kStrangeLogInsMost = 3;

bool send_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

Bytes framed(std::span<const std::byte> body, U32 length) {
  Bytes frame(kFrameHeadBytes);
  store(frame.data(), kMagic);
  store(frame.data() + 4, length);
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

// Numbers of the script in all fields. Types of files are ones that there are, so that a client goes on with them.
template <class Layout>
void fill(Layout& layout, Script& script) {
  each_field(layout, [&]<class Field>(Field& field) {
    if constexpr (std::is_integral_v<Field>) {
      field = static_cast<Field>(script.number());
    } else if constexpr (std::is_same_v<Field, File>) {
      field = File{script.number()};
    } else if constexpr (std::is_same_v<Field, Text>) {
      field = as_text(script.take(script.number()));
    } else {
      fill(field, script);
    }
  });
  if constexpr (std::is_same_v<Layout, Attributes>) layout.type = layout.type % 7 + 1;
}

void append_sound(Bytes& records, U16 code, WireStatus status, Script& script) {
  const auto append = [&](auto reply) {
    fill(reply, script);
    if constexpr (std::is_same_v<decltype(reply), ReaddirReply>) {
      Bytes entries;
      for (U32 i = 0; i < reply.count % 8; ++i) {
        DirectoryEntry entry;
        fill(entry, script);
        append_record(entries, 0, entry);
      }
      reply.entries = as_text(entries);
      append_record(records, static_cast<U16>(status), reply);
    } else {
      append_record(records, static_cast<U16>(status), reply);
    }
  };
  switch (code) {
#define STOA_NATIVE_OPERATION(number, name, kind, arguments, answer) \
  case number:                                                       \
    append(answer{});                                                \
    break;
#include "frontends/native/protocol/operations.def"
    default:
      break;
  }
}

bool is_patience(WireStatus status) {
  return status == WireStatus::busy || status == WireStatus::in_progress || status == WireStatus::bad_checksum ||
         status == WireStatus::recall_pending || status == WireStatus::grace || status == WireStatus::locked ||
         status == WireStatus::false_retry;
}

}  // namespace

std::uint8_t Script::byte() {
  const auto one = take(1);
  return one.empty() ? 0 : std::to_integer<std::uint8_t>(one[0]);
}

U32 Script::number() {
  const std::uint8_t size = byte();
  if (size < 224) return size % 32;
  U32 value = 0;
  for (const std::byte one : take(4)) value = value << 8 | std::to_integer<U32>(one);
  return value;
}

std::span<const std::byte> Script::take(std::size_t bytes) {
  const auto taken = bytes_.first(std::min(bytes, bytes_.size()));
  bytes_ = bytes_.subspan(taken.size());
  return taken;
}

HostileServer::HostileServer(Script script) : script_(script) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  STOA_ASSERT(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  STOA_ASSERT(listen(listener_, 16) == 0);
  STOA_ASSERT(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  STOA_ASSERT(pipe2(stop_.data(), O_CLOEXEC) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve_all(); });
}

HostileServer::~HostileServer() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(listener_);
}

bool HostileServer::wait(int fd) const {
  pollfd both[2] = {{.fd = fd, .events = POLLIN, .revents = 0}, {.fd = stop_[0], .events = POLLIN, .revents = 0}};
  while (poll(both, 2, -1) < 0) {
  }
  return both[1].revents == 0;
}

HostileServer::Heard HostileServer::hear(int fd, Bytes& body) const {
  std::byte head[kFrameHeadBytes];
  if (!wait(fd)) return Heard::kStopped;
  if (recv(fd, head, sizeof head, MSG_WAITALL) != static_cast<ssize_t>(sizeof head)) return Heard::kEnd;
  const auto bytes = body_bytes(head);
  STOA_ASSERT(bytes);
  body.resize(*bytes);
  if (recv(fd, body.data(), body.size(), MSG_WAITALL) != static_cast<ssize_t>(body.size())) return Heard::kEnd;
  return Heard::kMessage;
}

void HostileServer::serve_all() {
  while (wait(listener_)) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    // Ends at once, so that no port is kept for a while.
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    serve(fd);
    close(fd);
  }
}

void HostileServer::serve(int fd) {
  if (!log_in(fd)) return;
  Bytes body;
  for (;;) {
    if (hear(fd, body) != Heard::kMessage) return;
    MessageView view;
    STOA_ASSERT(cut_message(body, view) == Cut::kWhole);
    if (!answer(fd, view)) return;
  }
}

Welcome HostileServer::welcome() {
  Welcome said{.session = session_,
               .boot_verifier = 1,
               .volume = 1,
               .root = 2,
               .slots = 5,
               .credits = 5,
               .message_bytes_max = static_cast<U32>(kMessageBytesMax),
               .lease_seconds = 60};
  if (script_.empty() || log_ins_ > kStrangeLogInsMost) return said;
  const std::uint8_t what = script_.byte();
  if ((what & 1) != 0) said.session = session_ = session_ + 1 + script_.number();
  if ((what & 2) != 0) said.boot_verifier = script_.number();
  if ((what & 4) != 0) said.may_reclaim = script_.byte();
  if ((what & 8) != 0) said.slots = script_.number();
  if ((what & 16) != 0) said.lease_seconds = script_.number();
  if ((what & 32) != 0) said.root = script_.number();
  if ((what & 64) != 0) said.message_bytes_max = script_.number();
  // Without these a client stays away for longer each time.
  if (knows_client_ && said.slots < 2) said.slots = 2;
  if (knows_client_ && said.lease_seconds == 0) said.lease_seconds = 1;
  return said;
}

bool HostileServer::log_in(int fd) {
  ++log_ins_;
  const bool strange = !knows_client_ && (script_.byte() & 7) == 7;
  Bytes body;
  MessageView view;
  if (hear(fd, body) != Heard::kMessage || cut_message(body, view) != Cut::kWhole) return false;
  const Bytes hello(view.operations.begin(), view.operations.end());
  const std::uint8_t how = strange ? script_.byte() : 0;
  if (how % 4 == 1) {
    const auto bytes = script_.take(script_.number());
    return send_all(fd, framed(bytes, script_.number())) && false;
  }
  if (how % 4 == 2) {
    const Refused refused{.wait_ms = script_.number()};
    return send_all(fd, encode_single(MessageKind::kRefused, refused, WireStatus{script_.byte()})) && false;
  }
  Challenge given{.version = kVersion};
  const Nonce nonce{};
  given.nonce = as_text(nonce);
  if (how % 4 == 3) {
    given.version = script_.number();
    given.offers_tls = script_.byte() % 2;
    given.nonce = as_text(script_.take(script_.number()));
  }
  Bytes challenge;
  append_record(challenge, 0, given);
  if (!send_all(fd, encode_single(MessageKind::kChallenge, given))) return false;
  if (hear(fd, body) != Heard::kMessage || cut_message(body, view) != Cut::kWhole) return false;
  Bytes records;
  append_record(records, 0, welcome());
  const Mac mac = prove(ProofOf::kServer, kSecret, {hello, challenge, view.operations, records});
  append_record(records, 0, Proof{.mac = as_text(mac)});
  knows_client_ = true;
  return send_all(
      fd, encode_message({.version = kVersion, .kind = static_cast<U16>(MessageKind::kWelcome), .operation_count = 2},
                         {}, records, {}));
}

// A record of any form.
void HostileServer::append_strange(Bytes& records, WireStatus status) {
  const auto fixed = script_.take(script_.number()), texts = script_.take(script_.number());
  const std::size_t begin = records.size();
  records.resize(begin + kRecordHeadBytes);
  records.insert(records.end(), fixed.begin(), fixed.end());
  records.insert(records.end(), texts.begin(), texts.end());
  records.resize((records.size() + 7) & ~std::size_t{7});
  store(records.data() + begin, static_cast<U32>(records.size() - begin));
  store(records.data() + begin + 4, static_cast<U16>(fixed.size()));
  store(records.data() + begin + 6, static_cast<U16>(status));
}

// The records of a reply to these operations: of their layouts, or of any.
Bytes HostileServer::records_for(std::span<const std::byte> operations) {
  Bytes records;
  const std::uint8_t shape = script_.byte();
  while (const auto operation = next_record(operations)) {
    WireStatus status = (shape & 1) != 0 && script_.byte() % 2 == 0 ? WireStatus{script_.byte()} : WireStatus::ok;
    if (is_patience(status) && ++patience_ > kPatienceMost) status = WireStatus::access;
    if ((shape & 6) == 6) {
      append_strange(records, status);
    } else {
      append_sound(records, operation->code, status, script_);
    }
    if (status != WireStatus::ok && (shape & 8) == 0) break;
  }
  if ((shape & 48) == 48) append_strange(records, WireStatus::ok);
  return records;
}

Bytes HostileServer::reply_to(const MessageView& message) {
  Header header{.version = kVersion,
                .kind = static_cast<U16>(MessageKind::kReply),
                .session = session_,
                .slot = message.header.slot,
                .sequence = message.header.sequence};
  const std::uint8_t shape = script_.byte();
  if ((shape & 1) != 0) header.flags = script_.byte();
  if ((shape & 2) != 0) header.credits = script_.number();
  const Bytes records = records_for(message.operations);
  header.operation_count = (shape & 4) != 0 ? script_.number() : message.header.operation_count;
  const Bytes payload(std::min<std::size_t>((shape & 8) != 0 ? script_.number() : 0, kPayloadBytesMax));
  return encode_message(header, {}, records, payload);
}

bool HostileServer::answer(int fd, const MessageView& message) {
  const auto kind = static_cast<MessageKind>(message.header.kind);
  if (kind == MessageKind::kGoodbye) return false;
  const auto plain = [&](WireStatus status) {
    const MessageKind reply = kind == MessageKind::kPing ? MessageKind::kPong : MessageKind::kReply;
    return encode_message({.version = kVersion,
                           .kind = static_cast<U16>(reply),
                           .status = static_cast<U16>(status),
                           .session = session_,
                           .slot = message.header.slot,
                           .sequence = message.header.sequence},
                          {}, {}, {});
  };
  for (;;) {
    if (script_.empty() || ++actions_ > kActionsMost) return send_all(fd, plain(WireStatus::access));
    switch (script_.byte() % 10) {
      case 0: {  // a body of any bytes
        const auto bytes = script_.take(std::size_t{script_.byte()});
        return send_all(fd, framed(bytes, static_cast<U32>(bytes.size()))) && script_.byte() % 2 == 0;
      }
      case 1:  // no frame at all
        (void)send_all(fd, script_.take(script_.number()));
        return false;
      case 2: {  // recalls that nobody has asked for
        Bytes records;
        const U32 count = script_.byte() % 8;
        for (U32 i = 0; i < count; ++i)
          append_record(records, 0,
                        RecallNotice{.lease = script_.byte(),
                                     .file = script_.byte(),
                                     .subject = script_.byte(),
                                     .keeps = script_.byte(),
                                     .reason = script_.number()});
        const Header header{.version = kVersion,
                            .kind = static_cast<U16>(MessageKind::kRecall),
                            .session = session_,
                            .operation_count = count};
        if (!send_all(fd, encode_message(header, {}, records, {}))) return false;
        break;
      }
      case 3: {  // an answer to something else
        Header header{.version = kVersion, .kind = script_.byte(), .status = script_.byte(), .session = session_};
        header.kind = header.kind % 13;
        header.slot = script_.number();
        header.sequence = script_.number();
        if (!send_all(fd, encode_message(header, {}, {}, {}))) return false;
        break;
      }
      case 4: {
        WireStatus status{script_.byte()};
        if (is_patience(status) && ++patience_ > kPatienceMost) status = WireStatus::access;
        return send_all(fd, plain(status));
      }
      case 5:
        return false;
      default:
        if (kind == MessageKind::kPing) return send_all(fd, plain(WireStatus::ok));
        return send_all(fd, reply_to(message));
    }
  }
}

}  // namespace stoa::native

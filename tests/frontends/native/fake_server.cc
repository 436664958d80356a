#include "tests/frontends/native/fake_server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontends/native/protocol/login.h"

namespace stoa::test {
namespace {

bool receive_all(int fd, std::byte* to, std::size_t bytes) {
  return recv(fd, to, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

// The next body; empty: there is none any more.
Bytes receive_body(int fd) {
  std::byte head[kFrameHeadBytes];
  if (!receive_all(fd, head, sizeof head)) return {};
  const auto bytes = body_bytes(head);
  Bytes body(bytes.value_or(0));
  if (!bytes || !receive_all(fd, body.data(), body.size())) return {};
  return body;
}

}  // namespace

void FakeServer::Peer::send(const Bytes& frame) {
  const std::lock_guard lock(mutex_);
  (void)::send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL);
}

void FakeServer::Peer::reply(const Header& call, const Bytes& records, U32 flags, WireStatus status) {
  U32 count = 0;
  for (std::span<const std::byte> rest = records; next_record(rest);) ++count;
  const bool ping = call.kind == static_cast<U16>(MessageKind::kPing);
  send(encode_message({.version = kVersion,
                       .kind = static_cast<U16>(ping ? MessageKind::kPong : MessageKind::kReply),
                       .status = static_cast<U16>(status),
                       .session = call.session,
                       .slot = call.slot,
                       .sequence = call.sequence,
                       .flags = flags,
                       .operation_count = count},
                      {}, records, {}));
}

void FakeServer::Peer::recall(const RecallNotice& notice) {
  send(encode_single(MessageKind::kRecall, notice));
}

void FakeServer::Peer::shut() {
  shutdown(fd_, SHUT_RDWR);
}

FakeServer::FakeServer(Handler handler) : handler_(std::move(handler)) {
  next_session(1, 1, false);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener_, 16), 0);
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

FakeServer::~FakeServer() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  break_connections();
  for (std::thread& thread : threads_) thread.join();
  for (const Peer& peer : peers_) close(peer.fd_);
}

void FakeServer::next_session(U64 session, U64 boot_verifier, bool may_reclaim) {
  const std::lock_guard lock(mutex_);
  welcome_ = {.session = session,
              .boot_verifier = boot_verifier,
              .volume = 1,
              .root = 2,
              .may_reclaim = may_reclaim,
              .slots = 9,
              .credits = 9,
              .message_bytes_max = static_cast<U32>(kMessageBytesMax),
              .lease_seconds = 60};
}

void FakeServer::next_welcome(const std::function<void(Welcome&)>& change) {
  const std::lock_guard lock(mutex_);
  change(welcome_);
}

void FakeServer::break_connections() {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) peer.shut();
}

Welcome FakeServer::welcome() {
  const std::lock_guard lock(mutex_);
  return welcome_;
}

void FakeServer::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (fd >= 0 && stopped_) close(fd);
    if (fd < 0 || stopped_) return;
    Peer& peer = peers_.emplace_back(fd);
    threads_.emplace_back([this, &peer] { serve(peer); });
  }
}

void FakeServer::serve(Peer& peer) {
  Bytes challenge;
  for (int step = 0; step < 2; ++step) {
    static thread_local Bytes hello;
    const Bytes body = receive_body(peer.fd_);
    MessageView view;
    if (body.empty() || cut_message(body, view) != Cut::kWhole) return;
    if (step == 0) {
      hello.assign(view.operations.begin(), view.operations.end());
      const Nonce nonce = make_nonce();
      const Challenge given{.version = kVersion, .nonce = as_text(nonce)};
      append_record(challenge, 0, given);
      peer.send(encode_single(MessageKind::kChallenge, given));
      continue;
    }
    Bytes records;
    append_record(records, 0, welcome());
    const Mac mac = prove(ProofOf::kServer, "host-secret", {hello, challenge, view.operations, records});
    append_record(records, 0, Proof{.mac = as_text(mac)});
    peer.send(encode_message(
        {.version = kVersion, .kind = static_cast<U16>(MessageKind::kWelcome), .operation_count = 2}, {}, records, {}));
  }
  for (;;) {
    const Bytes body = receive_body(peer.fd_);
    MessageView view;
    if (body.empty() || cut_message(body, view) != Cut::kWhole) return peer.shut();
    handler_(peer, view);
  }
}

}  // namespace stoa::test

#include "tests/frontends/native/meddler.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontends/native/client/connection.h"

namespace stoa::test {
namespace {

using namespace native;  // NOLINT: of this protocol are all names here

constexpr std::chrono::seconds kMeddlerPatience{10};

void wait_for(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  (void)poll(&one, 1, 10'000);
}

bool fill(int fd, tls::Stream* stream, Bytes& to, std::size_t at) {
  while (at < to.size()) {
    const iovec part{to.data() + at, to.size() - at};
    const ssize_t n = stream == nullptr ? readv(fd, &part, 1) : stream->read({&part, 1});
    const int error = errno;
    Bytes out;
    if (stream != nullptr && stream->has_output() && stream->seal({}, out))
      (void)send(fd, out.data(), out.size(), MSG_NOSIGNAL);
    if (n == 0 || (n < 0 && error != EAGAIN)) return false;
    if (n > 0) at += static_cast<std::size_t>(n);
    if (n < 0) wait_for(fd);
  }
  return true;
}

}  // namespace

Meddler::Meddler(std::uint16_t server, const TestCertificate& own, Meddling meddling)
    : server_(server), meddling_(std::move(meddling)), context_(*tls::Context::server(own.chain, own.key)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof at;
  EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(listen(listener_, 8), 0);
  EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
  port = ntohs(at.sin_port);
  thread_ = std::thread([this] { run(); });
}

Meddler::~Meddler() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

void Meddler::run() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    relay(fd);
    close(fd);
  }
}

void Meddler::relay(int fd) {
  std::uint8_t first = 0;
  wait_for(fd);
  (void)recv(fd, &first, 1, MSG_PEEK);
  std::unique_ptr<tls::Stream> stream;
  if (first == tls::kHandshakeByte) {
    if (!meddling_.speaks_tls) return;
    stream = *tls::Stream::accept(*context_, fd);
  }
  auto up = ClientConnection::open("127.0.0.1", server_, kMeddlerPatience);
  if (!up) return;
  if (stream != nullptr && !(*up)->start_tls(**tls::Context::client(false, ""), "127.0.0.1", kMeddlerPatience)) return;
  for (;;) {
    Bytes frame(kFrameHeadBytes);
    if (!fill(fd, stream.get(), frame, 0)) return;
    frame.resize(kFrameHeadBytes + body_bytes(frame.data()).value_or(0));
    if (!fill(fd, stream.get(), frame, kFrameHeadBytes)) return;
    if (!pass_on(frame) || !(*up)->send(frame)) return;
    const auto body = (*up)->receive(kMeddlerPatience);
    if (!body) return;
    Bytes answer(kFrameHeadBytes);
    store(answer.data(), kMagic);
    store(answer.data() + 4, static_cast<U32>((*body)->size()));
    answer.insert(answer.end(), (*body)->begin(), (*body)->end());
    if (!pass_on(answer)) return;
    if (stream != nullptr) {
      Bytes sealed;
      if (!stream->seal(answer, sealed)) return;
      answer = sealed;
    }
    if (send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
  }
}

bool Meddler::pass_on(Bytes& frame) {
  const Bytes as_said = frame;
  MessageView message;
  if (cut_message(std::span(as_said).subspan(kFrameHeadBytes), message) != Cut::kWhole) return false;
  if (message.header.kind == static_cast<U16>(MessageKind::kChallenge)) ++challenges;
  if (meddling_.change) meddling_.change(message, frame);
  return true;
}

void take_offer_away(const MessageView& message, Bytes& frame) {
  if (message.header.kind != static_cast<U16>(MessageKind::kChallenge)) return;
  Challenge challenge;
  std::span<const std::byte> records = message.operations;
  if (!read_record(*next_record(records), challenge)) return;
  challenge.offers_tls = 0;
  frame = encode_single(MessageKind::kChallenge, challenge);
}

}  // namespace stoa::test

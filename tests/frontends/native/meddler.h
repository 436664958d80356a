// Somebody on the way, who speaks to the client and to the server, and may change what they say.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "frontends/native/protocol/message.h"
#include "frontends/tls/context.h"
#include "frontends/tls/stream.h"
#include "tests/frontends/tls/certificates.h"

namespace stoa::test {

struct Meddling {
  // Answers TLS itself, and speaks TLS to the server; else a client that begins with TLS is cut off.
  bool speaks_tls = false;
  // Given each message of both sides, in its thread; what it leaves in `frame` goes on. Null: nothing is changed.
  std::function<void(const native::MessageView& message, native::Bytes& frame)> change{};
};

// One connection at a time; each message of the client has one answer, as in a log-in.
class Meddler {
 public:
  Meddler(std::uint16_t server, const TestCertificate& own, Meddling meddling = {});
  ~Meddler();
  Meddler(const Meddler&) = delete;

  std::uint16_t port = 0;
  std::atomic<int> challenges{0};

 private:
  void run();
  void relay(int fd);
  // False: it is none.
  bool pass_on(native::Bytes& frame);

  const std::uint16_t server_;
  const Meddling meddling_;
  const std::shared_ptr<const tls::Context> context_;
  int listener_ = -1;
  std::thread thread_;
};

// A meddling: the server offers no TLS, as far as the client is told.
void take_offer_away(const native::MessageView& message, native::Bytes& frame);

}  // namespace stoa::test

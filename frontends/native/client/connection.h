// One connection to the server: frames out and in.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "frontends/native/client/large_memory.h"
#include "frontends/native/protocol/message.h"
#include "frontends/tls/stream.h"

namespace stoa::native {

// send(), wait_readable() and break_off() by any thread; receive(), try_receive() and ready() by one at a time, with
// what they see of each other ordered by the callers.
class ClientConnection {
 public:
  // kIo, kTimeout: nobody answers there, with a sentence for people.
  static Result<std::unique_ptr<ClientConnection>> open(const std::string& host, std::uint16_t port,
                                                        std::chrono::milliseconds patience);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;

  // Before anything else is said: TLS from now on. `host` is whom the certificate must be for, if the context verifies.
  // kAccess: it is not trusted; kNotSupported: the server speaks no TLS 1.3; kTimeout; kIo; with a sentence for people.
  Status start_tls(const tls::Context& context, const std::string& host, std::chrono::milliseconds patience);
  // The binding of its TLS channel (RFC 9266); empty: it is plain.
  std::span<const std::byte> binding() const;

  // One frame: `head`, and behind it `payload`, which is not copied but for TLS. kIo: the connection is broken.
  Status send(std::span<const std::byte> head, std::span<const std::byte> payload = {});
  // The next body. kTimeout: it has not come in this time (a part of it stays). kIo: closed or broken. kCorrupt: no
  // frame.
  Result<std::shared_ptr<const Content>> receive(std::chrono::milliseconds patience);
  // The next body if it has come; else null. Never blocks. Errors as receive().
  Result<std::shared_ptr<const Content>> try_receive();
  // Whether try_receive() has something without anything more to come.
  bool ready() const { return staged() >= kFrameHeadBytes || hidden(); }
  // Until something is to be read (the end, too). False: not in this time. Negative: for ever.
  bool wait_readable(std::chrono::nanoseconds patience) const;
  // Both directions end; receive() fails from now on.
  void break_off();

 private:
  explicit ClientConnection(int fd);
  // Takes what has come, without blocking: 0 is nothing.
  Result<std::size_t> read_some(std::byte* to, std::size_t bytes);
  std::size_t staged() const { return stage_end_ - stage_begin_; }
  // What TLS has read already is told by no event.
  bool hidden() const { return tls_ != nullptr && tls_->may_hold_more(); }

  const int fd_;
  std::unique_ptr<tls::Stream> tls_;  // null: plain
  std::mutex send_mutex_;             // one frame at a time
  // What was read and is no body yet. A body that is longer than the stage is read to its own place.
  const std::unique_ptr<std::byte[]> stage_;
  std::size_t stage_begin_ = 0, stage_end_ = 0;
  std::shared_ptr<Content> body_;  // has come up to body_at_
  std::size_t body_at_ = 0;
};

}  // namespace stoa::native

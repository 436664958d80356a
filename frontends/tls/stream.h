// TLS 1.3 on one connection: reads the socket itself, and gives its owner the bytes to send.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontends/tls/context.h"

struct ssl_st;

namespace stoa::tls {

inline constexpr std::uint8_t kHandshakeByte = 22;  // the first one of a connection (RFC 8446 5.1)
inline constexpr std::size_t kBindingBytes = 32;
// "tls-exporter" of RFC 9266: the same on both sides, and on no other connection.
using Binding = std::array<std::byte, kBindingBytes>;

// Thread-safe; nothing here blocks. One thread reads at a time, any may seal. Bytes to send come out in the order in
// which they must leave, so the owner takes them (seal) and sends them under one lock of its own.
class Stream {
 public:
  // The socket `fd` is non-blocking and outlives the stream. kIo: no memory.
  static Result<std::unique_ptr<Stream>> accept(const Context& context, int fd);
  // `host`: the name or the address that the certificate must be for, if the context verifies.
  static Result<std::unique_ptr<Stream>> connect(const Context& context, int fd, const std::string& host);
  ~Stream();
  Stream(const Stream&) = delete;

  // As readv(2) on a non-blocking socket, and goes on with the handshake before. 0: the peer has ended. -1 with EAGAIN:
  // nothing yet, all that came was read; with EPROTO: the peer broke the protocol, or is not trusted: see failure().
  // A count below the room means that all that came was read.
  ssize_t read(std::span<const iovec> parts);
  // Whether the last read() ended for want of room: then there may be more that no event of the socket tells of.
  bool may_hold_more() const { return !drained_.load(std::memory_order_relaxed); }
  // Goes on with the handshake, without reading what is behind it. 1: it is done; else as read(). What the stream has
  // to say then is in seal().
  ssize_t handshake();

  // Appends `bytes`, sealed, to `out`, after all that the stream has to say itself. False: not established, or broken.
  bool seal(std::span<const std::byte> bytes, std::vector<std::byte>& out);
  // Whether the stream has something to say: seal({}, out).
  bool has_output() const { return has_output_.load(std::memory_order_acquire); }

  bool established() const { return established_.load(std::memory_order_acquire); }
  // Part of a record is here, or of the handshake, and the rest is not.
  bool partial();
  // Once established.
  const Binding& binding() const { return binding_; }
  // After EPROTO: what is wrong with the peer, or its certificate, for people.
  std::string failure();

 private:
  Stream() = default;
  static Result<std::unique_ptr<Stream>> make(const Context& context, int fd);
  friend struct OutputMethod;
  // What a call of the library that failed means, as read() says it.
  ssize_t verdict_locked(int result);
  void note_locked();

  std::mutex mutex_;  // guards ssl_, output_, failure_
  ssl_st* ssl_ = nullptr;
  std::vector<std::byte> output_;
  std::string failure_;
  Binding binding_{};  // set before established_
  std::atomic<bool> has_output_{false}, established_{false}, drained_{true};
};

}  // namespace stoa::tls

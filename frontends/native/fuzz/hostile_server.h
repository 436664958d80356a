// A server whose answers are the bytes of an input: it knows the secret of the client's key, and means harm.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <thread>

#include "frontends/native/protocol/message.h"
#include "frontends/native/protocol/status.h"

namespace stoa::native {

// What is left of an input. Behind its end all is zero.
class Script {
 public:
  explicit Script(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint8_t byte();
  U32 number();  // mostly a small one
  std::span<const std::byte> take(std::size_t bytes);

 private:
  std::span<const std::byte> bytes_;
};

// On a free port of the loopback. Where the script ends, or has asked for patience too often, logins succeed and all
// else is refused, so that a client that goes on comes to an end.
class HostileServer {
 public:
  static constexpr std::string_view kKey = "HOSTKEY", kSecret = "host-secret";

  explicit HostileServer(Script script);
  ~HostileServer();  // no client may be there any more
  HostileServer(const HostileServer&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  enum class Heard : std::uint8_t { kMessage, kEnd, kStopped };
  // Waits for the descriptor. False: the server is to stop.
  bool wait(int fd) const;
  Heard hear(int fd, Bytes& body) const;
  void serve_all();
  void serve(int fd);
  bool log_in(int fd);
  bool answer(int fd, const MessageView& message);
  Bytes reply_to(const MessageView& message);
  Bytes records_for(std::span<const std::byte> operations);
  void append_strange(Bytes& records, WireStatus status);
  Welcome welcome();

  Script script_;
  int listener_ = -1;
  std::array<int, 2> stop_{-1, -1};
  std::uint16_t port_ = 0;
  U64 session_ = 1;
  bool knows_client_ = false;
  int log_ins_ = 0, patience_ = 0, actions_ = 0;
  std::thread thread_;
};

}  // namespace stoa::native

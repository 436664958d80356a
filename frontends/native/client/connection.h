// One connection to the server: frames out and in, blocking.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// send() and break_off() by any thread; receive() by one.
class ClientConnection {
 public:
  // kIo, kTimeout: nobody answers there, with a sentence for people.
  static Result<std::unique_ptr<ClientConnection>> open(const std::string& host, std::uint16_t port,
                                                        std::chrono::milliseconds patience);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;

  // kIo: the connection is broken.
  Status send(std::span<const std::byte> frame);
  // The next body. kTimeout: nothing has begun to come in this time. kIo: closed or broken. kCorrupt: no frame.
  Result<std::shared_ptr<const Bytes>> receive(std::chrono::milliseconds patience);
  // Both directions end; receive() fails from now on.
  void break_off();

 private:
  explicit ClientConnection(int fd) : fd_(fd) {}
  Status fill(std::byte* to, std::size_t bytes);

  const int fd_;
  std::mutex send_mutex_;  // one frame at a time
};

}  // namespace stoa::native

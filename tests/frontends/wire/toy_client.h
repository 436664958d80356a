// A client that sends the given bytes, and reads records that begin with their length in four bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::test {

using Bytes = std::vector<std::byte>;

Bytes be32(std::uint32_t value);
std::uint32_t be32_at(const std::byte* at);

// One request of the toy protocol: its length, an id, and words ("echo hello").
Bytes toy_request(std::uint32_t id, std::string_view words);

struct ToyReply {
  std::uint32_t id = 0;
  std::string words;
  bool operator==(const ToyReply&) const = default;
};

class ToyClient {
 public:
  // From 127.0.0.`host`.
  explicit ToyClient(std::uint16_t port, std::uint8_t host = 1);
  ~ToyClient();
  ToyClient(const ToyClient&) = delete;

  bool send(std::span<const std::byte> bytes);
  // Empty: the server has closed the connection.
  std::optional<ToyReply> receive();
  std::optional<ToyReply> call(std::uint32_t id, std::string_view words) {
    send(toy_request(id, words));
    return receive();
  }
  // Waits until the server has closed the connection; false: it sent something.
  bool closed_by_server();
  void disconnect();

 private:
  bool read_exactly(std::byte* at, std::size_t size);
  int fd_;
};

}  // namespace stoa::test

// The key of a client's request across restarts: recognises the same request when the client retransmits it because
// the reply was lost.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::core {

// Made by the front end from the fields that identify a request (address, transaction id, checksum). Zero: the
// request may run twice.
struct RequestKey {
  std::uint64_t high = 0, low = 0;
  bool operator==(const RequestKey&) const = default;
  explicit operator bool() const { return (high | low) != 0; }
  // One of several operations of the same request.
  RequestKey operation(std::uint32_t number) const { return *this ? RequestKey{high, low + number} : RequestKey{}; }
};

struct RequestKeyHash {
  std::size_t operator()(const RequestKey& key) const { return key.high ^ key.low * 0x9e3779b97f4a7c15; }
};

}  // namespace stoa::core

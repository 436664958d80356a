// The listening address of a server: a numeric address and a port.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::appliance {

struct Endpoint {
  std::string host;  // numeric IPv4 or IPv6, without brackets
  std::uint16_t port = 0;
  std::string to_text() const;
  bool is_loopback() const;
  bool operator==(const Endpoint&) const = default;
};

// "127.0.0.1:2049", "[::1]:2049", "0.0.0.0:0" (any free port). kInvalid with the reason. Names are refused, because
// their addresses may change between two starts.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace stoa::appliance

// Universal addresses over IP (RFC 5665 5.2.3.3, 5.2.3.4): a host and a port as text, "192.0.2.1.8.1",
// "2001:db8::1.8.1".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoa::rpc {

struct UniversalAddress {
  std::array<std::uint8_t, 16> host{};  // as Peer::address
  std::uint16_t port = 0;
};

// Empty: malformed, or of the other family.
std::optional<UniversalAddress> parse_universal_address(std::string_view text, bool ipv6);
std::string to_text(const UniversalAddress& address);

}  // namespace stoa::rpc

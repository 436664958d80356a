#include "frontends/nfs/rpc/universal_address.h"

#include <arpa/inet.h>

#include <charconv>

#include "frontends/wire/peer.h"

namespace stoa::rpc {
namespace {

// One of the two numbers behind the host.
std::optional<std::uint8_t> take_octet(std::string_view& text) {
  const auto dot = text.rfind('.');
  if (dot == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(dot + 1);
  std::uint8_t octet = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), octet);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  text = text.substr(0, dot);
  return octet;
}

}  // namespace

std::optional<UniversalAddress> parse_universal_address(std::string_view text, bool ipv6) {
  const auto low = take_octet(text);
  const auto high = low ? take_octet(text) : std::nullopt;
  if (!high) return std::nullopt;
  UniversalAddress address{.port = static_cast<std::uint16_t>(*high << 8 | *low)};
  const std::string host(text);
  if (ipv6) {
    if (inet_pton(AF_INET6, host.c_str(), address.host.data()) != 1) return std::nullopt;
  } else {
    address.host[10] = address.host[11] = 0xff;
    if (inet_pton(AF_INET, host.c_str(), address.host.data() + 12) != 1) return std::nullopt;
  }
  return address;
}

std::string to_text(const UniversalAddress& address) {
  return wire::address_text(address.host) + "." + std::to_string(address.port >> 8) + "." +
         std::to_string(address.port & 0xff);
}

}  // namespace stoa::rpc

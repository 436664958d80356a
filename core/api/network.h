// A network that clients come from.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::core {

// An IPv4 or IPv6 network; IPv4 is kept as ::ffff:a.b.c.d.
struct Network {
  std::array<std::uint8_t, 16> address{};
  std::uint8_t prefix_bits = 0;  // of 128

  // "10.0.0.0/8", "::1", "fe80::/10", "*". kInvalid with a cause and the text.
  static Result<Network> parse(std::string_view text);
  std::string to_text() const;
  bool contains(const std::array<std::uint8_t, 16>& address) const;
  auto operator<=>(const Network&) const = default;
};

}  // namespace stoa::core

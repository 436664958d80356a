#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/api/registry.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kMappedPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // RFC 4291 2.5.5.2
constexpr unsigned kMappedBits = 96;

bool is_mapped(const std::array<std::uint8_t, 16>& address) {
  return std::memcmp(address.data(), kMappedPrefix, sizeof kMappedPrefix) == 0;
}

// A bit behind the prefix is nearly always a slip of the hand ("10.0.0.1/8"), and would be ignored without a word.
bool has_bits_behind(const std::array<std::uint8_t, 16>& address, unsigned prefix) {
  for (unsigned bit = prefix; bit < 128; ++bit) {
    if ((address[bit / 8] >> (7 - bit % 8) & 1) != 0) return true;
  }
  return false;
}

}  // namespace

Result<Network> Network::parse(std::string_view text) {
  if (text == "*") return Network{};
  const std::size_t slash = text.find('/');
  const std::string host(text.substr(0, slash));

  Network network;
  unsigned width = 128;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    std::memcpy(network.address.data(), kMappedPrefix, sizeof kMappedPrefix);
    std::memcpy(network.address.data() + sizeof kMappedPrefix, &v4, sizeof v4);
    width = 32;
  } else if (inet_pton(AF_INET6, host.c_str(), network.address.data()) != 1) {
    return fail(Cause::kNetworkForm, text);
  }

  unsigned bits = width;
  if (slash != std::string_view::npos) {
    const std::string_view suffix = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), bits);
    if (suffix.empty() || error != std::errc{} || end != suffix.data() + suffix.size() || bits > width) {
      return fail(Cause::kNetworkPrefix, text, width);
    }
  }
  if (width == 32) bits += kMappedBits;
  if (has_bits_behind(network.address, bits)) return fail(Cause::kNetworkBits, text);
  network.prefix_bits = static_cast<std::uint8_t>(bits);
  return network;
}

std::string Network::to_text() const {
  if (*this == Network{}) return "*";
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = is_mapped(address) && prefix_bits >= kMappedBits;
  if (v4) {
    inet_ntop(AF_INET, address.data() + sizeof kMappedPrefix, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.data(), text, sizeof text);
  }
  const unsigned bits = v4 ? prefix_bits - kMappedBits : prefix_bits;
  return std::string(text) + "/" + std::to_string(bits);
}

bool Network::contains(const std::array<std::uint8_t, 16>& other) const {
  const unsigned bits = std::min<unsigned>(prefix_bits, 128);
  const unsigned whole = bits / 8;
  if (std::memcmp(address.data(), other.data(), whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const unsigned shift = 8 - bits % 8;
  return address[whole] >> shift == other[whole] >> shift;
}

const ClientRule* Export::rule_for(const std::array<std::uint8_t, 16>& address) const {
  const auto it = std::ranges::find_if(clients, [&](const ClientRule& rule) { return rule.network.contains(address); });
  return it == clients.end() ? nullptr : &*it;
}

}  // namespace stoa::core

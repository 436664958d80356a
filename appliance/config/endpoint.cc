#include "appliance/config/endpoint.h"

#include <arpa/inet.h>

#include <charconv>

namespace stoa::appliance {

std::string Endpoint::to_text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool Endpoint::is_loopback() const {
  return host.starts_with("127.") || host == "::1";
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(Errc::kInvalid, "'" + std::string(text) + "' is not an endpoint: " + std::string(why) +
                                    "; write ADDRESS:PORT, such as 0.0.0.0:2049 or [::1]:2049");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse("it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);

  Endpoint endpoint;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), endpoint.port);
  if (port_text.empty() || error != std::errc{} || end != port_text.data() + port_text.size()) {
    return refuse("the port must be a number from 0 to 65535");
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  endpoint.host = host;
  in6_addr address{};
  if (inet_pton(bracketed ? AF_INET6 : AF_INET, endpoint.host.c_str(), &address) != 1) {
    return refuse("the address must be numeric, an IPv6 address in brackets");
  }
  return endpoint;
}

}  // namespace stoa::appliance

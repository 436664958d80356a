#include "frontends/native/client/url.h"

#include <charconv>

#include "frontends/native/client/client.h"

namespace stoa::native {
namespace {

constexpr std::size_t kHostsMax = 16;

auto wrong(std::string why) {
  return fail(Errc::kInvalid, "the URL " + why + "; it is written stoa://[user@]host[:port][,host...]/export[/path]");
}

// One of the hosts; its port is 0 when it has none.
Result<Url::Host> parse_host(std::string_view place) {
  Url::Host host;
  std::string_view port;
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    if (end == place.npos) return wrong("has an address without its closing bracket");
    host.name = place.substr(1, end - 1);
    port = place.substr(end + 1);
  } else {
    const std::size_t colon = place.find(':');
    host.name = place.substr(0, colon);
    port = colon == place.npos ? std::string_view{} : place.substr(colon);
  }
  if (host.name.empty()) return wrong("names no host");
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), host.port);
    if (port[0] != ':' || error != std::errc{} || end != port.data() + port.size() || host.port == 0)
      return wrong("has a port that is no number from 1 to 65535");
  }
  return host;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kPlain = "stoa://", kTls = "stoas://";
  const bool tls = text.starts_with(kTls);
  if (!tls && !text.starts_with(kPlain)) return wrong("does not begin with stoa:// or stoas://");
  text.remove_prefix(tls ? kTls.size() : kPlain.size());
  if (text.find('\0') != text.npos) return wrong("has a zero byte");
  const std::size_t slash = text.find('/');
  std::string_view place = text.substr(0, slash);
  std::string_view rest = slash == text.npos ? std::string_view{} : text.substr(slash + 1);
  Url url{.tls = tls};
  if (const std::size_t at = place.rfind('@'); at != place.npos) {
    url.user = place.substr(0, at);
    place.remove_prefix(at + 1);
    if (url.user.empty()) return wrong("names no user before the @");
  }
  for (bool more = true; more;) {
    const std::size_t comma = place.find(',');
    STOA_TRY(host, parse_host(place.substr(0, comma)));
    url.hosts.push_back(std::move(host));
    if (url.hosts.size() > kHostsMax) return wrong("names more than 16 hosts");
    more = comma != place.npos;
    if (more) place.remove_prefix(comma + 1);
  }
  const std::uint16_t of_all = url.hosts.back().port != 0 ? url.hosts.back().port : kDefaultPort;
  for (Url::Host& host : url.hosts) {
    if (host.port == 0) host.port = of_all;
  }
  const std::size_t end = rest.find('/');
  url.export_name = rest.substr(0, end);
  if (url.export_name.empty()) return wrong("names no export");
  std::string_view path = end == rest.npos ? std::string_view{} : rest.substr(end);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  url.path = path;
  return url;
}

}  // namespace stoa::native

#include "frontends/native/client/url.h"

#include <charconv>

#include "frontends/native/client/client.h"

namespace stoa::native {
namespace {

auto wrong(std::string why) {
  return fail(Errc::kInvalid, "the URL " + why + "; it is written stoa://[user@]host[:port]/export[/path]");
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kScheme = "stoa://";
  if (!text.starts_with(kScheme)) return wrong("does not begin with stoa://");
  text.remove_prefix(kScheme.size());
  if (text.find('\0') != text.npos) return wrong("has a zero byte");
  const std::size_t slash = text.find('/');
  std::string_view place = text.substr(0, slash);
  std::string_view rest = slash == text.npos ? std::string_view{} : text.substr(slash + 1);
  Url url{.port = kDefaultPort};
  if (const std::size_t at = place.rfind('@'); at != place.npos) {
    url.user = place.substr(0, at);
    place.remove_prefix(at + 1);
    if (url.user.empty()) return wrong("names no user before the @");
  }
  std::string_view port;
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    if (end == place.npos) return wrong("has an address without its closing bracket");
    url.host = place.substr(1, end - 1);
    port = place.substr(end + 1);
  } else {
    const std::size_t colon = place.find(':');
    url.host = place.substr(0, colon);
    port = colon == place.npos ? std::string_view{} : place.substr(colon);
  }
  if (url.host.empty()) return wrong("names no host");
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), url.port);
    if (port[0] != ':' || error != std::errc{} || end != port.data() + port.size() || url.port == 0)
      return wrong("has a port that is no number from 1 to 65535");
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

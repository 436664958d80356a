// The address of an export: stoa://[user@]host[:port][,host[:port]...]/export[/path], or stoas:// where TLS is
// required.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace stoa::native {

struct Url {
  std::string user{};  // empty: none was named
  // Where the server may be. A port behind the last one counts for all that have none.
  struct Host {
    std::string name{};  // a name, an IPv4 address, or an IPv6 address, which is in brackets in the text
    std::uint16_t port = 0;
    bool operator==(const Host&) const = default;
  };
  std::vector<Host> hosts{};  // one or more
  std::string export_name{};
  bool tls = false;    // it is stoas://
  std::string path{};  // below the export, without slashes at its ends
};

// kInvalid, with a sentence for people.
Result<Url> parse_url(std::string_view text);

}  // namespace stoa::native

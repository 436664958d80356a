// The address of an export: stoa://[user@]host[:port]/export[/path].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::native {

struct Url {
  std::string user{};  // empty: none was named
  std::string host{};  // a name, an IPv4 address, or an IPv6 address, which is in brackets in the text
  std::uint16_t port = 0;
  std::string export_name{};
  std::string path{};  // below the export, without slashes at its ends
};

// kInvalid, with a sentence for people.
Result<Url> parse_url(std::string_view text);

}  // namespace stoa::native

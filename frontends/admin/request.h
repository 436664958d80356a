// An admin request and its reply, free of the HTTP library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/api/context.h"

namespace stoa::admin {

enum class Method : std::uint8_t { kGet, kPost, kPut, kPatch, kDelete };
std::string_view to_string(Method method);
std::optional<Method> parse_method(std::string_view text);

struct Request {
  Method method = Method::kGet;
  std::string path;                          // as on the wire, without the query
  std::map<std::string, std::string> query;  // decoded
  std::string body;
  std::string authorization;  // the header
  std::string if_none_match;  // the header
  std::string client;         // address, or "unix"
  bool local = false;         // came over a loopback address or the Unix socket
  std::uint64_t id = 0;

  // Filled by the router: the decoded parts of the path that stand for {…} in the route.
  std::vector<std::string> arguments{};

  core::OpContext context() const {
    return {.request_id = id, .door = core::Door::kAdmin, .cred = core::Credentials::superuser(), .client = client};
  }
};

struct Reply {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::string allow{};  // the header Allow, with status 405
  std::vector<std::pair<std::string, std::string>> headers{};  // more; without them, "Cache-Control: no-store"
};

}  // namespace stoa::admin

// An admin request and its reply, free of the HTTP library.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/context.h"
#include "frontends/admin/access.h"
#include "frontends/admin/event_stream.h"

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

  // Filled by the router: the decoded parts of the path at the {…} of the route.
  std::vector<std::string> arguments{};
  // The caller; empty on routes that need no token and got none.
  std::optional<Caller> caller{};
  // The object at the path by which an owner's access was decided.
  std::optional<Result<core::Attributes>> place{};

  // Deadline of a call of the core that begins now. After this time the client is told that the result is unknown.
  static constexpr std::chrono::seconds kCoreCallTime{50};
  static Deadline until() { return Deadline::in(kCoreCallTime); }
  core::OpContext context(std::chrono::seconds time = kCoreCallTime) const {
    return {.request_id = id,
            .protocol = core::Protocol::kAdmin,
            .cred = core::Credentials::superuser(),
            .client = client,
            .deadline = Deadline::in(time),
            .durable_by = Deadline::in(time)};
  }
};

struct Reply {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::string allow{};                                         // the header Allow, with status 405
  std::string retry_after{};                                   // the header Retry-After, in seconds, with status 429
  std::string error{};                                         // the code in an error, for the audit
  std::shared_ptr<EventStream> stream{};                       // instead of a body
  std::vector<std::pair<std::string, std::string>> headers{};  // more; without them, "Cache-Control: no-store"
};

}  // namespace stoa::admin

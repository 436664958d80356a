// The table of admin routes, and the way of a request through it: find, authorise, handle, answer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "frontends/admin/access.h"
#include "frontends/admin/request.h"
#include "frontends/admin/service.h"

namespace stoa::admin {

struct Route {
  Method method;
  std::string_view pattern;  // "/v1/exports/{name}"
  std::string_view name;     // label of its metrics, operationId of the description
  Access access;
  unsigned success;
  // One of the two: a JSON answer, or a whole reply.
  Result<nlohmann::json> (*handle)(Service&, const Request&);
  Reply (*handle_raw)(Service&, const Request&) = nullptr;
};

std::span<const Route> routes();

// Never throws. Thread-safe, blocks as the core does.
Reply dispatch(Service& service, Request request);

// Percent-decoding of RFC 3986; a '%' without two digits stays.
std::string percent_decode(std::string_view text);

}  // namespace stoa::admin

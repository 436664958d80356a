#include "frontends/admin/admin_action.h"

#include "base/log.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/router.h"

namespace stoa::admin {
namespace {

// The target of the request, as the caller named it.
std::string target_of(const Request& request) {
  for (const char* name : {"path", "target"}) {
    if (const auto it = request.query.find(name); it != request.query.end()) return it->second;
  }
  std::string target;
  for (const std::string& argument : request.arguments) target.append(target.empty() ? "" : "/").append(argument);
  if (!target.empty()) return target;
  if (auto body = JsonBody::parse(request.body)) {
    for (const char* name : {"name", "path", "id"}) {
      if (auto text = body->text(name)) return *std::move(text);
    }
  }
  return {};
}

bool is_recorded(const Route& route, const Reply& reply) {
  // Only an admin may read secrets; that is worth a record as well. Refusals by the rate limit would flood the log.
  const bool matters =
      route.method != Method::kGet || route.access == Access::kAdmin || reply.status == 401 || reply.status == 403;
  return matters && reply.status != 429;
}

}  // namespace

void record(Service& service, const Route& route, const Request& request, const Reply& reply) {
  if (!is_recorded(route, reply)) return;
  constexpr std::size_t kTargetBytesMax = 4096;
  AdminAction action{.time = wall_now(),
                     .request_id = request.id,
                     .route = route.name,
                     .method = to_string(route.method),
                     .client = request.client,
                     .status = reply.status,
                     .result = reply.error.empty() ? "ok" : reply.error};
  if (request.caller) {
    action.token = request.caller->name;
    action.role = to_string(request.caller->role);
    action.target = target_of(request).substr(0, kTargetBytesMax);
  }
  log_info("admin", "request",
           {{"request_id", action.request_id},
            {"token", action.token},
            {"role", action.role},
            {"route", action.route},
            {"target", action.target},
            {"client", action.client},
            {"status", action.status},
            {"result", action.result}});
  if (service.record_action) service.record_action(request, action);
}

}  // namespace stoa::admin

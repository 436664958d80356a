#include "frontends/admin/router.h"

#include <chrono>
#include <vector>

#include <nlohmann/json.hpp>

#include "frontends/admin/admin_action.h"
#include "frontends/admin/authentication.h"
#include "frontends/admin/error_reply.h"
#include "frontends/admin/routes.h"

namespace stoa::admin {
namespace {

using enum Method;

constexpr Route kRoutes[] = {
    {kGet, "/", "get_console", Access::kOpen, 200, nullptr, get_console},
    {kGet, "/assets/{file}", "get_console_asset", Access::kOpen, 200, nullptr, get_console},
    {kGet, "/healthz", "health", Access::kOpen, 200, nullptr, get_health},
    {kGet, "/metrics", "metrics", Access::kLocalOrToken, 200, nullptr, get_metrics},
    {kGet, "/v1/version", "get_version", Access::kAnyRole, 200, get_version},
    {kGet, "/v1/status", "get_status", Access::kRead, 200, get_status},
    {kGet, "/v1/activity", "get_activity", Access::kRead, 200, get_activity},
    {kGet, "/v1/volume", "get_volume", Access::kRead, 200, get_volume},
    {kGet, "/v1/check", "get_check", Access::kRead, 200, get_check},
    {kPost, "/v1/check", "start_check", Access::kOperate, 202, start_check},
    {kGet, "/v1/session", "get_session", Access::kAnyRole, 200, get_session},
    {kGet, "/v1/host-keys", "list_host_keys", Access::kAdmin, 200, list_host_keys},
    {kPost, "/v1/host-keys", "add_host_key", Access::kAdmin, 201, add_host_key},
    {kDelete, "/v1/host-keys/{name}", "remove_host_key", Access::kAdmin, 204, remove_host_key},
    {kGet, "/v1/tokens", "list_tokens", Access::kAdmin, 200, list_tokens},
    {kPost, "/v1/tokens", "add_token", Access::kAdmin, 201, add_token},
    {kDelete, "/v1/tokens/{name}", "remove_token", Access::kAdmin, 204, remove_token},
    {kGet, "/v1/exports", "list_exports", Access::kRead, 200, list_exports},
    {kPost, "/v1/exports", "create_export", Access::kOperate, 201, create_export},
    {kGet, "/v1/exports/{name}", "get_export", Access::kRead, 200, get_export},
    {kPatch, "/v1/exports/{name}", "change_export", Access::kOperate, 200, change_export},
    {kDelete, "/v1/exports/{name}", "remove_export", Access::kOperate, 204, remove_export},
    {kGet, "/v1/users", "list_users", Access::kRead, 200, list_users},
    {kPost, "/v1/users", "create_user", Access::kAdmin, 201, create_user},
    {kGet, "/v1/users/{name}", "get_user", Access::kRead, 200, get_user},
    {kPatch, "/v1/users/{name}", "change_user", Access::kAdmin, 200, change_user},
    {kDelete, "/v1/users/{name}", "remove_user", Access::kAdmin, 204, remove_user},
    {kGet, "/v1/users/{name}/keys", "list_keys", Access::kAdmin, 200, list_keys},
    {kPost, "/v1/users/{name}/keys", "add_key", Access::kAdmin, 201, add_key},
    {kPatch, "/v1/users/{name}/keys/{access_key}", "change_key", Access::kAdmin, 200, change_key},
    {kDelete, "/v1/users/{name}/keys/{access_key}", "remove_key", Access::kAdmin, 204, remove_key},
    {kGet, "/v1/groups", "list_groups", Access::kRead, 200, list_groups},
    {kPost, "/v1/groups", "create_group", Access::kAdmin, 201, create_group},
    {kDelete, "/v1/groups/{name}", "remove_group", Access::kAdmin, 204, remove_group},
    {kGet, "/v1/clients", "list_clients", Access::kRead, 200, list_clients},
    {kDelete, "/v1/clients/{id}", "evict_client", Access::kOperate, 204, evict_client},
    {kGet, "/v1/quotas", "list_quotas", Access::kOwnerHandler, 200, list_quotas},
    {kGet, "/v1/quota", "get_quota", Access::kOwnerPath, 200, get_quota},
    {kPut, "/v1/quota", "set_quota", Access::kOwnerPath, 200, set_quota},
    {kDelete, "/v1/quota", "remove_quota", Access::kOwnerPath, 204, remove_quota},
    {kGet, "/v1/quota/owners", "list_owner_quotas", Access::kOwnerPath, 200, list_owner_quotas},
    {kPut, "/v1/quota/owners", "count_owners", Access::kOwnerPath, 200, count_owners},
    {kGet, "/v1/qos/classes", "list_qos_classes", Access::kRead, 200, list_qos_classes},
    {kGet, "/v1/qos/class", "get_qos_class", Access::kRead, 200, get_qos_class},
    {kPut, "/v1/qos/class", "set_qos_class", Access::kOperate, 200, set_qos_class},
    {kDelete, "/v1/qos/class", "remove_qos_class", Access::kOperate, 204, remove_qos_class},
    {kGet, "/v1/recycle", "list_recycled", Access::kOwnerPath, 200, list_recycled},
    {kPost, "/v1/recycle/restore", "restore_recycled", Access::kOwnerHandler, 200, restore_recycled},
    {kPost, "/v1/recycle/purge", "purge_recycled", Access::kOwnerBody, 200, purge_recycled},
    {kGet, "/v1/recycle/policy", "get_recycle_policy", Access::kOwnerPath, 200, get_recycle_policy},
    {kGet, "/v1/recycle/policies", "list_recycle_policies", Access::kOwnerHandler, 200, list_recycle_policies},
    {kPut, "/v1/recycle/policy", "set_recycle_policy", Access::kOwnerPath, 200, set_recycle_policy},
    {kDelete, "/v1/recycle/policy", "remove_recycle_policy", Access::kOwnerPath, 204, remove_recycle_policy},
    {kGet, "/v1/sealed", "get_sealed", Access::kOwnerPath, 200, get_sealed},
    {kPut, "/v1/sealed", "set_sealed", Access::kOperate, 200, set_sealed},
    {kGet, "/v1/audit", "query_audit", Access::kRead, 200, query_audit},
    {kGet, "/v1/audit/policy", "get_audit_policy", Access::kRead, 200, get_audit_policy},
    {kGet, "/v1/audit/policies", "list_audit_policies", Access::kRead, 200, list_audit_policies},
    {kPut, "/v1/audit/policy", "set_audit_policy", Access::kAdmin, 200, set_audit_policy},
    {kDelete, "/v1/audit/policy", "remove_audit_policy", Access::kAdmin, 204, remove_audit_policy},
    {kGet, "/v1/audit/report", "get_audit_report", Access::kRead, 200, get_audit_report},
    {kPost, "/v1/audit/verify", "verify_audit", Access::kRead, 200, verify_audit},
    {kGet, "/v1/watch", "watch", Access::kRead, 200, nullptr, get_watch},
    {kGet, "/v1/events", "list_events", Access::kRead, 200, list_events},
    {kGet, "/v1/explain", "explain", Access::kRead, 200, explain},
    {kGet, "/v1/acl", "get_acl", Access::kRead, 200, get_acl},
    {kPut, "/v1/acl", "set_acl", Access::kAdmin, 200, set_acl},
    {kGet, "/v1/directory", "list_directory", Access::kOwnerPath, 200, list_directory},
    {kGet, "/v1/stat", "get_stat", Access::kOwnerPath, 200, get_stat},
    {kGet, "/v1/usage", "get_usage", Access::kOwnerPath, 200, get_usage},
};

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    parts.push_back(path.substr(0, path.find('/')));
    path.remove_prefix(parts.back().size());
  }
  return parts;
}

// Compares undecoded, so that an encoded '/' never changes which route is meant.
bool matches(std::string_view pattern, const std::vector<std::string_view>& parts,
             std::vector<std::string>& arguments) {
  const std::vector<std::string_view> wanted = split(pattern);
  if (wanted.size() != parts.size()) return false;
  arguments.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      arguments.push_back(percent_decode(parts[i]));
    } else if (wanted[i] != parts[i]) {
      return false;
    }
  }
  return true;
}

Reply json_reply(unsigned status, const nlohmann::json& json) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return {.status = status, .body = json.dump(-1, ' ', false, kReplace) + "\n"};
}

Reply handle(Service& service, const Route& route, const Request& request) {
  if (route.handle_raw != nullptr) return route.handle_raw(service, request);
  auto answer = route.handle(service, request);
  if (!answer) return error_reply(answer.error(), request.id);
  if (route.success == 204) return {.status = 204, .content_type = ""};
  return json_reply(route.success, *answer);
}

Reply too_many(Service& service, const Request& request, Throttle::Wait wait, Cause cause) {
  const char* const why = cause == Cause::kTooManyRequests ? "requests" : "wrong tokens";
  service.metrics.counter("stoa_admin_throttled_total", "Admin requests refused for their number.", {{"why", why}})
      .add();
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
  Reply reply = error_reply(429, "too_many_requests", fail(cause, seconds).error(), request.id);
  reply.retry_after = seconds;
  return reply;
}

// Requests from this machine are not counted: they are the administrator's own scripts.
std::optional<Reply> refuse_too_many(Service& service, const Request& request, const std::string& who) {
  if (request.local) return {};
  const auto wait = service.throttle.admit(who, std::chrono::steady_clock::now());
  if (wait == Throttle::Wait::zero()) return std::nullopt;
  return too_many(service, request, wait, Cause::kTooManyRequests);
}

// A valid token is never refused for wrong ones from the same address: clients that share an address must not lock
// each other out, and 256 bits are not guessed.
Reply refuse_token(Service& service, const Request& request, const Error& why) {
  service.metrics.counter("stoa_admin_refused_tokens_total", "Admin requests without a token that is known and holds.")
      .add();
  if (request.client != "unix") {  // a process that may write to the socket could stop stoad as well
    const auto wait = service.throttle.fail(address_key(request.client), std::chrono::steady_clock::now());
    if (wait != Throttle::Wait::zero()) return too_many(service, request, wait, Cause::kTooManyWrongTokens);
  }
  return error_reply(401, "unauthorised", why, request.id);
}

Reply serve(Service& service, const Route& route, Request& request) {
  if (route.access == Access::kOpen || (route.access == Access::kLocalOrToken && request.local)) {
    if (auto refused = refuse_too_many(service, request, address_key(request.client))) return *std::move(refused);
    return handle(service, route, request);
  }
  auto caller = authenticate(service, request.authorization, wall_now());
  if (!caller) return refuse_token(service, request, caller.error());
  request.caller = *std::move(caller);
  if (auto refused = refuse_too_many(service, request, "token:" + request.caller->name)) return *std::move(refused);
  const Status permitted = permit(service, route.access, request);
  if (!permitted) return error_reply(permitted.error(), request.id);
  return handle(service, route, request);
}

void account(Service& service, std::string_view route, unsigned status, std::chrono::steady_clock::time_point begin) {
  const auto took = std::chrono::steady_clock::now() - begin;
  // The cost of the registry's lock does not matter here: admin requests are few, and the labels are bounded by the
  // route table.
  service.metrics
      .histogram("stoa_admin_request_seconds", "Time to serve an admin request.", {{"route", std::string(route)}})
      .observe_ns(static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
  const char* outcome = status < 400 ? "ok" : status < 500 ? "refused" : "failed";
  service.metrics
      .counter("stoa_admin_requests_total", "Admin requests by route and outcome.",
               {{"route", std::string(route)}, {"outcome", outcome}})
      .add();
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

std::string percent_decode(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) << 4 | digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Reply dispatch(Service& service, Request request) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string_view> parts = split(request.path);
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!matches(route.pattern, parts, request.arguments)) continue;
    if (route.method != request.method) {
      allowed.append(allowed.empty() ? "" : ", ").append(to_string(route.method));
      continue;
    }
    Reply reply = serve(service, route, request);
    account(service, route.name, reply.status, begin);
    record(service, route, request, reply);
    return reply;
  }
  account(service, "none", 404, begin);
  if (auto refused = refuse_too_many(service, request, address_key(request.client))) return *std::move(refused);
  if (allowed.empty())
    return error_reply(404, "no_such_route", fail(Cause::kRouteUnknown, request.path).error(), request.id);
  Reply reply = error_reply(405, "method_not_allowed", fail(Cause::kMethodWrong, allowed).error(), request.id);
  reply.allow = allowed;
  return reply;
}

}  // namespace stoa::admin

#include "frontends/admin/router.h"

#include <chrono>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "frontends/admin/http_status.h"
#include "frontends/admin/routes.h"

namespace stoa::admin {
namespace {

using enum Method;

constexpr Route kRoutes[] = {
    {kGet, "/", "get_console", Access::kOpen, 200, nullptr, get_console},
    {kGet, "/assets/{file}", "get_console_asset", Access::kOpen, 200, nullptr, get_console},
    {kGet, "/healthz", "health", Access::kOpen, 200, nullptr, get_health},
    {kGet, "/metrics", "metrics", Access::kLocalOrToken, 200, nullptr, get_metrics},
    {kGet, "/v1/version", "get_version", Access::kToken, 200, get_version},
    {kGet, "/v1/status", "get_status", Access::kToken, 200, get_status},
    {kGet, "/v1/activity", "get_activity", Access::kToken, 200, get_activity},
    {kGet, "/v1/volume", "get_volume", Access::kToken, 200, get_volume},
    {kGet, "/v1/check", "get_check", Access::kToken, 200, get_check},
    {kPost, "/v1/check", "start_check", Access::kToken, 202, start_check},
    {kGet, "/v1/exports", "list_exports", Access::kToken, 200, list_exports},
    {kPost, "/v1/exports", "create_export", Access::kToken, 201, create_export},
    {kGet, "/v1/exports/{name}", "get_export", Access::kToken, 200, get_export},
    {kPatch, "/v1/exports/{name}", "change_export", Access::kToken, 200, change_export},
    {kDelete, "/v1/exports/{name}", "remove_export", Access::kToken, 204, remove_export},
    {kGet, "/v1/users", "list_users", Access::kToken, 200, list_users},
    {kPost, "/v1/users", "create_user", Access::kToken, 201, create_user},
    {kGet, "/v1/users/{name}", "get_user", Access::kToken, 200, get_user},
    {kPatch, "/v1/users/{name}", "change_user", Access::kToken, 200, change_user},
    {kDelete, "/v1/users/{name}", "remove_user", Access::kToken, 204, remove_user},
    {kGet, "/v1/users/{name}/keys", "list_keys", Access::kToken, 200, list_keys},
    {kPost, "/v1/users/{name}/keys", "add_key", Access::kToken, 201, add_key},
    {kPatch, "/v1/users/{name}/keys/{access_key}", "change_key", Access::kToken, 200, change_key},
    {kDelete, "/v1/users/{name}/keys/{access_key}", "remove_key", Access::kToken, 204, remove_key},
    {kGet, "/v1/groups", "list_groups", Access::kToken, 200, list_groups},
    {kPost, "/v1/groups", "create_group", Access::kToken, 201, create_group},
    {kDelete, "/v1/groups/{name}", "remove_group", Access::kToken, 204, remove_group},
    {kGet, "/v1/clients", "list_clients", Access::kToken, 200, list_clients},
    {kDelete, "/v1/clients/{id}", "evict_client", Access::kToken, 204, evict_client},
    {kGet, "/v1/quotas", "list_quotas", Access::kToken, 200, list_quotas},
    {kGet, "/v1/quota", "get_quota", Access::kToken, 200, get_quota},
    {kPut, "/v1/quota", "set_quota", Access::kToken, 200, set_quota},
    {kDelete, "/v1/quota", "remove_quota", Access::kToken, 204, remove_quota},
    {kGet, "/v1/quota/owners", "list_owner_quotas", Access::kToken, 200, list_owner_quotas},
    {kPut, "/v1/quota/owners", "count_owners", Access::kToken, 200, count_owners},
    {kGet, "/v1/flows", "list_flows", Access::kToken, 200, list_flows},
    {kGet, "/v1/flow", "get_flow", Access::kToken, 200, get_flow},
    {kPut, "/v1/flow", "set_flow", Access::kToken, 200, set_flow},
    {kDelete, "/v1/flow", "remove_flow", Access::kToken, 204, remove_flow},
    {kGet, "/v1/explain", "explain", Access::kToken, 200, explain},
    {kGet, "/v1/acl", "get_acl", Access::kToken, 200, get_acl},
    {kPut, "/v1/acl", "set_acl", Access::kToken, 200, set_acl},
    {kGet, "/v1/directory", "list_directory", Access::kToken, 200, list_directory},
    {kGet, "/v1/stat", "get_stat", Access::kToken, 200, get_stat},
    {kGet, "/v1/usage", "get_usage", Access::kToken, 200, get_usage},
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

// Takes the same time wherever the two differ, so that a client cannot guess the token byte by byte.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

bool authorised(const Service& service, const Route& route, const Request& request) {
  if (route.access == Access::kOpen || (route.access == Access::kLocalOrToken && request.local)) return true;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.authorization;
  return header.starts_with(kScheme) && same_secret(header.substr(kScheme.size()), service.token);
}

Reply json_reply(unsigned status, const nlohmann::json& json) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return {.status = status, .body = json.dump(-1, ' ', false, kReplace) + "\n"};
}

Reply error_reply(unsigned status, std::string_view code, std::string_view message, std::uint64_t id) {
  return json_reply(status, {{"error", {{"code", code}, {"message", message}, {"request_id", std::to_string(id)}}}});
}

Reply run(Service& service, const Route& route, const Request& request) {
  if (route.handle_raw != nullptr) return route.handle_raw(service, request);
  auto answer = route.handle(service, request);
  if (!answer) {
    const Error& error = answer.error();
    return error_reply(http_status(error.code), to_string(error.code),
                       error.detail.empty() ? describe(error) : error.detail, request.id);
  }
  if (route.success == 204) return {.status = 204, .content_type = ""};
  return json_reply(route.success, *answer);
}

void account(Service& service, std::string_view route, unsigned status, std::chrono::steady_clock::time_point begin) {
  const auto took = std::chrono::steady_clock::now() - begin;
  // The registry's lock is of no weight here: admin requests are few, and the labels are bounded by the route table.
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
    Reply reply =
        authorised(service, route, request)
            ? run(service, route, request)
            : error_reply(
                  401, "unauthorised",
                  "the request needs the header 'Authorization: Bearer TOKEN' with the token of the file admin.token",
                  request.id);
    account(service, route.name, reply.status, begin);
    if (route.method != kGet) {
      log_info("admin", "request",
               {{"request_id", request.id},
                {"route", route.name},
                {"path", request.path},
                {"client", request.client},
                {"status", reply.status}});
    }
    return reply;
  }
  account(service, "none", 404, begin);
  if (allowed.empty()) return error_reply(404, "no_such_route", "there is nothing at " + request.path, request.id);
  Reply reply = error_reply(405, "method_not_allowed", "the method must be " + allowed, request.id);
  reply.allow = allowed;
  return reply;
}

}  // namespace stoa::admin

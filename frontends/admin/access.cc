#include "frontends/admin/access.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "frontends/admin/json_body.h"
#include "frontends/admin/request.h"
#include "frontends/admin/service.h"

namespace stoa::admin {
namespace {

using core::Role;

Role least_role(Access access, Method method) {
  switch (access) {
    case Access::kOpen:
    case Access::kAnyRole:
      return Role::kOwner;
    case Access::kLocalOrToken:
    case Access::kRead:
      return Role::kAuditor;
    case Access::kOperate:
      return Role::kOperator;
    case Access::kAdmin:
      return Role::kAdmin;
    case Access::kOwnerPath:
    case Access::kOwnerBody:
    case Access::kOwnerHandler:
      return method == Method::kGet ? Role::kAuditor : Role::kOperator;
  }
  return Role::kAdmin;
}

std::unexpected<Error> elsewhere(const Caller& caller) {
  return fail(Cause::kOwnerElsewhere, caller.name, to_string(caller.role));
}

bool lies_within(Service& service, const Request& request, core::FileId id) {
  const auto above = service.volume.ns().ancestors(request.context(), {.id = id});
  return above && std::ranges::find(above->directories, request.caller->directory) != above->directories.end();
}

std::optional<std::string> path_asked(Access access, const Request& request) {
  if (access == Access::kOwnerPath) {
    const auto it = request.query.find("path");
    return it == request.query.end() ? std::nullopt : std::optional(it->second);
  }
  auto body = JsonBody::parse(request.body);
  return body ? body->text("path") : std::nullopt;
}

struct Found {
  core::FileId nearest;             // the last object on the way that exists
  Result<core::Attributes> object;  // at the end of the path, or why there is none
};

// As Namespace::resolve_path, which does not tell how far it came.
Found walk(Service& service, const Request& request, std::string_view path) {
  core::Namespace& ns = service.volume.ns();
  auto root = ns.getattr(request.context(), {.id = core::kRootId});
  if (!root) return {core::kRootId, fail(std::move(root).error())};
  core::Attributes attr = root->attr;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (name.empty() || name == ".") continue;
    auto next = ns.lookup(request.context(), {.parent = attr.id, .name = name});
    if (!next) return {attr.id, fail(std::move(next).error())};
    attr = next->attr;
  }
  return {attr.id, attr};
}

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::kOwner:
      return "owner";
    case Role::kAuditor:
      return "auditor";
    case Role::kOperator:
      return "operator";
    case Role::kAdmin:
      return "admin";
  }
  return "";
}

Status permit(Service& service, Access access, Request& request) {
  const Caller& caller = *request.caller;
  const Role need = least_role(access, request.method);
  if (caller.role >= need) return {};
  const bool for_owners =
      access == Access::kOwnerPath || access == Access::kOwnerBody || access == Access::kOwnerHandler;
  if (caller.role != Role::kOwner || !for_owners)
    return fail(for_owners ? Cause::kRoleOrOwner : Cause::kRoleTooLow, caller.name, to_string(caller.role),
                std::string(to_string(need)) + (need == Role::kAdmin ? "" : " or one above it"));
  if (access == Access::kOwnerHandler) return {};
  const auto path = path_asked(access, request);
  if (!path) return elsewhere(caller);
  auto found = find_for(service, request, *path);
  if (!found && found.error().code == Errc::kAccess) return fail(std::move(found).error());
  request.place.emplace(std::move(found));
  return {};
}

Result<core::Attributes> find_for(Service& service, const Request& request, std::string_view path) {
  Found found = walk(service, request, path);
  // That something does not exist, an owner learns only where the nearest directory that does is the owner's.
  STOA_CHECK_OK(require_within(service, request, found.nearest));
  return std::move(found.object);
}

Status require_within(Service& service, const Request& request, core::FileId id) {
  if (request.caller->role != Role::kOwner || lies_within(service, request, id)) return {};
  return elsewhere(*request.caller);
}

Status require_below(Service& service, const Request& request, core::FileId dir) {
  STOA_CHECK_OK(require_within(service, request, dir));
  if (request.caller->role != Role::kOwner || dir != request.caller->directory) return {};
  return fail(Cause::kOwnerOfThis, request.caller->name, to_string(request.caller->role));
}

}  // namespace stoa::admin

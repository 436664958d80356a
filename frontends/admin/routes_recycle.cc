// The recycle bins: items, restore, purge, and the policies of directories.
#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
// A purge may remove all items of a bin, and returns the number removed.
constexpr std::chrono::hours kPurgeTime{1};

std::string_view protocol_name(core::Protocol protocol) {
  switch (protocol) {
    case core::Protocol::kInternal:
      return "internal";
    case core::Protocol::kAdmin:
      return "admin";
    case core::Protocol::kNfs:
      return "nfs";
    case core::Protocol::kSmb:
      return "smb";
    case core::Protocol::kS3:
      return "s3";
    case core::Protocol::kNative:
      return "native";
  }
  return "unknown";
}

std::string_view right_name(core::RestoreRight right) {
  return right == core::RestoreRight::kAdmin ? "admin" : "owner";
}

// Items of a directory that was since moved out of the owner's directory still lie in the owner's bin; their present
// path is hidden.
Status hide_elsewhere(Service& service, const Request& request, std::vector<core::RecycledItem>& items) {
  if (request.caller->role != core::Role::kOwner) return {};
  STOA_TRY(own, service.volume.ns().path_of(request.context(), {request.caller->directory}));
  for (core::RecycledItem& item : items) {
    if (own.path != "/" && !item.path.starts_with(own.path + "/")) item.path.clear();
  }
  return {};
}

Json item_view(const core::RecycledItem& item, const core::RegistrySnapshot& registry) {
  const core::User* const user = registry.find_user_by_uid(item.uid);
  Json json{{"id", to_string(item.item)},
            {"type", to_string(item.type)},
            {"bytes", item.bytes},
            {"deleted_at", time_text(item.deleted_at)},
            {"deleted_by", {{"uid", item.uid}, {"user", user != nullptr ? Json(user->name) : Json()}}},
            {"protocol", protocol_name(item.protocol)},
            {"client", item.client}};
  put_bytes(json, "name", item.name);
  if (item.path.empty()) {
    json["path"] = nullptr;
  } else {
    put_bytes(json, "path", item.path);
  }
  return json;
}

Result<core::FileId> directory_at(const std::string& path, const Result<core::Attributes>& found) {
  if (!found && found.error().code == Errc::kNotFound) return fail(Cause::kPathUnknown, path);
  if (!found && found.error().code == Errc::kNotDirectory) return fail(Cause::kPathThroughFile, path);
  if (!found) return fail(found.error());
  if (found->type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path);
  return found->id;
}

Result<core::FileId> directory_of_query(Service& service, const Request& request) {
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path_of_query(request));
  return attr.id;
}

// The policy of an owner's directory binds its owner, and owners cannot take deletions out of a quota that binds
// them.
Status may_set_policy(Service& service, const Request& request, core::FileId dir, bool counted) {
  STOA_CHECK_OK(require_below(service, request, dir));
  if (counted || request.caller->role != core::Role::kOwner) return {};
  return fail(Cause::kUncountedBinRole);
}

Json used_view(const core::Usage& used) {
  return {{"bytes", core::bytes_of(used)}, {"items", used.files + used.directories}};
}

Json rules_view(const core::RecyclePolicy& policy) {
  return {{"enabled", policy.enabled},
          {"days", policy.days},
          {"bytes_max", policy.bytes_max ? Json(*policy.bytes_max) : Json()},
          {"restore", right_name(policy.restore)},
          {"counted", policy.counted}};
}

Result<Json> policy_view(Service& service, const Request& request, core::FileId dir) {
  STOA_TRY(status, service.volume.ns().recycle_status(request.context(), {dir}));
  // Without a policy these are the rules by which remaining items age.
  Json json = rules_view(status.policy.value_or(core::RecyclePolicy{.enabled = false}));
  json["own"] = status.policy && status.policy->dir == dir;
  json["used"] = used_view(status.used);
  put_bytes(json, "path", path_of_query(request));
  json["set_on"] = nullptr;
  if (status.policy) {
    const auto path = service.volume.ns().path_of(request.context(), {status.policy->dir});
    if (path) put_bytes(json, "set_on", path->path);
  }
  return json;
}

// "/a/b": to the directory "/a" as "b"; "/a" or "/a/" if it is a directory: into it under its own name.
struct Target {
  core::FileId parent;
  std::string name;
};
Result<Target> target_of(Service& service, const Request& request, const std::string& to) {
  const auto there = find_for(service, request, to);
  if (!there && there.error().code == Errc::kAccess) return fail(there.error());
  if (!to.starts_with('/')) return fail(Cause::kPathNotAbsolute, to);
  if (there && there->type == core::FileType::kDirectory) return Target{there->id, {}};
  if (there) return fail(Cause::kPathTaken, to);
  if (there.error().code == Errc::kNotDirectory) return fail(Cause::kPathThroughFile, to);
  if (there.error().code != Errc::kNotFound) return fail(there.error());
  const std::size_t slash = to.rfind('/');
  if (slash == std::string::npos || slash + 1 == to.size()) return fail(Cause::kPathUnknown, to);
  const std::string above = to.substr(0, slash);
  STOA_TRY(parent, directory_at(above, find_for(service, request, above)));
  return Target{parent, to.substr(slash + 1)};
}

}  // namespace

JsonResult list_recycled(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "after", "limit"}));
  STOA_TRY(after, query_number(request, "after", 0, kMost));
  STOA_TRY(limit, page_limit(request));
  STOA_TRY(dir, directory_of_query(service, request));
  STOA_TRY(reply,
           service.volume.ns().list_recycled(request.context(), {dir, after, static_cast<std::uint32_t>(limit)}));
  STOA_CHECK_OK(hide_elsewhere(service, request, reply.items));
  const auto registry = service.volume.registry().snapshot();
  Json items = Json::array();
  for (const core::RecycledItem& item : reply.items) items.push_back(item_view(item, *registry));
  Json next;
  if (reply.truncated) next = std::to_string(reply.next);
  return Json{{"items", std::move(items)}, {"next", std::move(next)}};
}

JsonResult restore_recycled(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto id = body.text("id");
  const auto to = body.text("to");
  if (!id) body.missing("id");
  STOA_CHECK_OK(body.finish());
  STOA_TRY(item, core::parse_recycle_item(*id));
  core::RestoreRequest restore{.item = item};
  // The core holds owners to their directory: only it can look and move at once.
  if (request.caller->role == core::Role::kOwner) restore.owned = request.caller->directory;
  Target target{};
  if (to) {
    STOA_TRY(wanted, target_of(service, request, *to));
    target = std::move(wanted);
    restore.to_parent = target.parent;
    restore.to_name = target.name;
  }
  STOA_TRY(done, service.volume.ns().restore(request.context(), restore));
  STOA_TRY(directory, service.volume.ns().path_of(request.context(), {done.parent}));
  Json json = Json::object();
  put_bytes(json, "path", (directory.path == "/" ? "" : directory.path) + "/" + done.name);
  return json;
}

JsonResult purge_recycled(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto path = body.text("path");
  const auto ids = body.texts("ids");
  const auto older = body.number("older_than_seconds", kMost);
  if (!path) body.missing("path");
  if (ids && ids->empty()) body.refuse("ids", "is empty");
  STOA_CHECK_OK(body.finish());
  core::PurgeRequest purge{
      .dir = core::kRootId, .older_than_seconds = older, .by_owner = request.caller->role == core::Role::kOwner};
  if (ids) {
    for (const std::string& id : *ids) {
      STOA_TRY(item, core::parse_recycle_item(id));
      purge.items.push_back(item);
    }
  }
  STOA_TRY(dir, directory_at(*path, request.place ? *request.place : find_for(service, request, *path)));
  purge.dir = dir;
  STOA_TRY(reply, service.volume.ns().purge(request.context(kPurgeTime), purge));
  return Json{{"removed", reply.removed}};
}

JsonResult get_recycle_policy(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(dir, directory_of_query(service, request));
  return policy_view(service, request, dir);
}

JsonResult list_recycle_policies(Service& service, const Request& request) {
  const auto registry = service.volume.registry().snapshot();
  std::vector<core::RecyclePolicy> policies;
  if (registry->recycle() != nullptr) {
    for (const auto& [dir, policy] : registry->recycle()->policies()) policies.push_back(policy);
  }
  std::ranges::sort(policies, {}, &core::RecyclePolicy::dir);
  return page_by_directory(service, request, "policies", policies, &core::RecyclePolicy::dir, rules_view);
}

JsonResult set_recycle_policy(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::RecyclePolicy policy;
  if (const auto enabled = body.flag("enabled")) policy.enabled = *enabled;
  if (const auto days = body.number("days", std::numeric_limits<std::uint32_t>::max()))
    policy.days = static_cast<std::uint32_t>(*days);
  if (!body.is_null("bytes_max")) policy.bytes_max = body.number("bytes_max", kMost);
  if (const auto restore = body.text("restore")) {
    policy.restore = *restore == "admin" ? core::RestoreRight::kAdmin : core::RestoreRight::kOwner;
    if (*restore != "admin" && *restore != "owner") body.refuse("restore", "must be 'owner' or 'admin'");
  }
  if (const auto counted = body.flag("counted")) policy.counted = *counted;
  STOA_CHECK_OK(body.finish());
  STOA_TRY(dir, directory_of_query(service, request));
  STOA_CHECK_OK(may_set_policy(service, request, dir, policy.counted));
  policy.dir = dir;
  STOA_CHECK_OK(service.volume.registry().set_recycle(policy, request.until()));
  return policy_view(service, request, dir);
}

JsonResult remove_recycle_policy(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(dir, directory_of_query(service, request));
  STOA_CHECK_OK(may_set_policy(service, request, dir, true));
  const Status removed = service.volume.registry().remove_recycle(dir, request.until());
  if (!removed && removed.error().code == Errc::kNotFound) return fail(Cause::kNoRecyclePolicy, path_of_query(request));
  STOA_CHECK_OK(removed);
  return Json();
}

}  // namespace stoa::admin

// Why something is refused, which limits apply, and what is full or makes wait.
#include <algorithm>
#include <span>

#include "frontends/admin/flow_words.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

struct Right {
  std::string_view name;
  std::uint32_t bits;
};
constexpr Right kFileRights[] = {{"read", core::kAccessRead}, {"write", core::kAccessModify | core::kAccessExtend}, {"execute", core::kAccessExecute}};
constexpr Right kDirectoryRights[] = {{"list", core::kAccessRead}, {"search", core::kAccessLookup}, {"change", core::kAccessModify | core::kAccessExtend},
                                      {"remove", core::kAccessDelete}};

// What the user may do with the object itself, and the directory above it that keeps the user from getting there.
Result<Json> access_view(Service& service, const Request& request, const core::User& user, const core::Attributes& attr,
                         const std::vector<core::FileId>& directories) {
  core::Namespace& ns = service.volume.ns();
  core::OpContext as_user = request.context();
  as_user.cred = user.credentials();
  Json json{{"user", user.name}, {"uid", user.uid}, {"stopped_at", Json()}, {"granted", Json::array()}, {"denied", Json::array()}};
  for (const core::FileId dir : directories) {
    if (dir == attr.id) break;
    STOA_TRY(reply, ns.access(as_user, {.id = dir, .wanted = core::kAccessLookup}));
    if (reply.granted != 0) continue;
    STOA_TRY(path, ns.path_of(request.context(), {.id = dir}));
    put_bytes(json, "stopped_at", path.path);
    break;
  }
  const std::span<const Right> rights = attr.type == core::FileType::kDirectory ? std::span<const Right>(kDirectoryRights) : kFileRights;
  for (const Right& right : rights) {
    STOA_TRY(reply, ns.access(as_user, {.id = attr.id, .wanted = right.bits}));
    json[reply.granted == right.bits ? "granted" : "denied"].push_back(right.name);
  }
  return json;
}

Json exports_view(const core::RegistrySnapshot& registry, const std::vector<core::FileId>& directories) {
  Json list = Json::array();
  for (const core::Export& record : registry.exports()) {
    if (std::ranges::find(directories, record.root) != directories.end()) list.push_back(view(record));
  }
  return list;
}

// Whether nothing more is let in: at the hard limit, or too long above the soft one.
bool is_full(std::uint64_t used, const std::optional<std::uint64_t>& hard, Timestamp over_soft_since, std::uint32_t grace_s) {
  if (hard && used >= *hard) return true;
  return over_soft_since != Timestamp{} && wall_now() >= Timestamp{over_soft_since.ns + grace_s * std::int64_t{1'000'000'000}};
}

// Those above, the nearest last, with whether there is room for one byte and one file more.
Result<Json> quotas_view(Service& service, const Request& request, const std::vector<core::FileId>& directories) {
  Json list = Json::array();
  for (const core::FileId dir : directories) {
    STOA_TRY(reply, service.volume.ns().usage(request.context(), {.dir = dir}));
    const core::QuotaLimits& limits = reply.limits;
    if (!limits.any()) continue;
    STOA_TRY(path, service.volume.ns().path_of(request.context(), {.id = dir}));
    const auto files = static_cast<std::uint64_t>(reply.usage.files + reply.usage.directories);
    const bool full = is_full(core::bytes_of(reply.usage), limits.bytes, reply.since.bytes, limits.grace_s) ||
                      is_full(files, limits.files, reply.since.files, limits.grace_s);
    Json json{{"limits", view(reply.limits)}, {"usage", view(reply.usage)}, {"full", full}};
    put_bytes(json, "path", path.path);
    list.push_back(std::move(json));
  }
  return list;
}

// Whether requests for this place pay the flow: of the user that was named, or of anybody.
bool concerns(const core::FlowTarget& target, const core::User* user, const std::vector<core::FileId>& directories,
              const core::RegistrySnapshot& registry) {
  switch (target.kind) {
    case core::FlowKind::kDirectory: return std::ranges::find(directories, core::FileId{target.id}) != directories.end();
    case core::FlowKind::kExport: {
      const core::Export* record = registry.find_export(core::ExportId{static_cast<std::uint32_t>(target.id)});
      return record != nullptr && std::ranges::find(directories, record->root) != directories.end();
    }
    case core::FlowKind::kUser: return user != nullptr && user->uid == target.id;
    case core::FlowKind::kGroup: return user != nullptr && user->credentials().in_group(static_cast<std::uint32_t>(target.id));
    case core::FlowKind::kDoor:
    case core::FlowKind::kClients: return true;
    case core::FlowKind::kBackground: return false;
  }
  return false;
}

}  // namespace

JsonResult explain(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "user"}));
  STOA_TRY(attr, query_path(service, request));
  const auto registry = service.volume.registry().snapshot();
  const core::User* user = nullptr;
  if (const auto it = request.query.find("user"); it != request.query.end()) {
    user = registry->find_user(it->second);
    if (user == nullptr) return fail(Errc::kNotFound, "there is no user named '" + it->second + "'");
  }
  STOA_TRY(above, service.volume.ns().ancestors(request.context(), {.id = attr.id}));
  STOA_TRY(quotas, quotas_view(service, request, above.directories));
  Json flows = Json::array();
  for (const core::FlowRule& rule : registry->flow_rules()) {
    if (concerns(rule.target, user, above.directories, *registry)) flows.push_back(flow_view(service, request, *registry, rule));
  }
  STOA_TRY(space, service.volume.ns().statfs(request.context(), {.id = core::kRootId}));
  Json json{{"attributes", view(attr)}, {"exports", exports_view(*registry, above.directories)}, {"quotas", std::move(quotas)},
            {"flows", std::move(flows)}, {"bytes_free", space.bytes_free}};
  put_bytes(json, "path", path_of_query(request));
  if (user != nullptr) {
    STOA_TRY(access, access_view(service, request, *user, attr, above.directories));
    json["access"] = std::move(access);
  }
  return json;
}

}  // namespace stoa::admin

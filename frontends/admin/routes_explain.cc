// Explanations: why requests are refused, which limits apply, and which resources are full or throttled.
#include <algorithm>
#include <optional>
#include <span>

#include "frontends/admin/causes.h"
#include "frontends/admin/held_view.h"
#include "frontends/admin/qos_words.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

struct Right {
  std::string_view name;
  std::uint32_t bits;    // AccessBits
  std::uint32_t rights;  // AccessRights
};
constexpr Right kFileRights[] = {
    {"read", core::kAccessRead, core::kRightReadData},
    {"write", core::kAccessModify | core::kAccessExtend, core::kRightWriteData | core::kRightAppendData},
    {"execute", core::kAccessExecute, core::kRightExecute}};
constexpr Right kDirectoryRights[] = {
    {"list", core::kAccessRead, core::kRightListDirectory},
    {"search", core::kAccessLookup, core::kRightSearch},
    {"change", core::kAccessModify | core::kAccessExtend, core::kRightAddFile | core::kRightAddSubdirectory},
    {"remove", core::kAccessDelete, core::kRightDeleteChild}};

// The user's access to the object itself, and the directory above it that blocks the user.
Result<Json> access_view(Service& service, const Request& request, const core::User& user, const core::Attributes& attr,
                         const std::vector<core::FileId>& directories, Json& causes) {
  core::Namespace& ns = service.volume.ns();
  core::OpContext as_user = request.context();
  as_user.cred = user.credentials();
  Json json{{"user", user.name},
            {"uid", user.uid},
            {"stopped_at", Json()},
            {"granted", Json::array()},
            {"denied", Json::array()}};
  for (const core::FileId dir : directories) {
    if (dir == attr.id) break;
    STOA_TRY(reply, ns.access(as_user, {.id = dir, .wanted = core::kAccessLookup}));
    if (reply.granted != 0) continue;
    STOA_TRY(path, ns.path_of(request.context(), {.id = dir}));
    put_bytes(json, "stopped_at", path.path);
    STOA_TRY(acl, ns.get_acl(request.context(), {.id = dir}));
    add_no_way(causes, user, path.path, acl);
    break;
  }
  const std::span<const Right> rights =
      attr.type == core::FileType::kDirectory ? std::span<const Right>(kDirectoryRights) : kFileRights;
  std::vector<std::pair<DenialReason, std::vector<std::string>>> denials;  // the cause, and its effect
  STOA_TRY(acl, ns.get_acl(request.context(), {.id = attr.id}));
  for (const Right& right : rights) {
    STOA_TRY(reply, ns.access(as_user, {.id = attr.id, .wanted = right.bits}));
    json[reply.granted == right.bits ? "granted" : "denied"].push_back(right.name);
    // Few files are programs: that is no cause of anything. And a recycle bin refuses the same to every user.
    if (reply.granted == right.bits || right.bits == core::kAccessExecute || reply.read_only) continue;
    const DenialReason reason = why_denied(user, acl, right.rights);
    const auto same = std::ranges::find_if(denials, [&](const auto& denial) { return denial.first == reason; });
    (same == denials.end() ? denials.emplace_back(reason, std::vector<std::string>()) : *same)
        .second.emplace_back(right.name);
  }
  for (const auto& [reason, denied] : denials) add_denied(causes, user, denied, reason, path_of_query(request));
  return json;
}

// The rule of the export that applies to the client: the first match, with its number; null: none.
Json deciding_rule(const core::Export& record, const core::Network& client) {
  const core::ClientRule* const rule = record.rule_for(client.address);
  if (rule == nullptr) return {};
  Json json = view(*rule);
  json["number"] = rule - record.clients.data() + 1;
  return json;
}

Json exports_view(Service& service, const core::RegistrySnapshot& registry, const Request& request,
                  const std::vector<core::FileId>& directories, const std::optional<core::Network>& client,
                  Json& causes) {
  Json list = Json::array();
  for (const core::Export& record : registry.exports()) {
    if (std::ranges::find(directories, record.root) == directories.end()) continue;
    list.push_back(view(record));
    if (client) {
      list.back()["client_rule"] = deciding_rule(record, *client);
      add_client(causes, record, *client);
    }
    add_no_kerberos(causes, record, service.kerberos());
    if (!client || record.read_only) add_read_only(causes, record);
  }
  if (list.empty()) add_no_export(causes, path_of_query(request));
  return list;
}

Result<std::optional<core::Network>> client_of(const Request& request) {
  const auto given = request.query.find("client");
  if (given == request.query.end()) return std::nullopt;
  const auto client = core::Network::parse(given->second);
  if (!client || client->prefix_bits != 128)
    return fail(Cause::kParameterForm, "client", "the address of one client, such as 192.0.2.7");
  return *client;
}

// The usage of the directory's recycle bin.
Result<core::Usage> kept_in_bin(Service& service, const Request& request, core::FileId dir) {
  STOA_TRY(status, service.volume.ns().recycle_status(request.context(), {dir}));
  const bool counts = status.bin_of == dir && (!status.policy || status.policy->counted);
  return counts ? status.used : core::Usage{};
}

// The quotas above, the nearest last, with whether there is room for one byte and one file more. Behind each are those
// of the user and the user's group in the same directory.
class QuotasView {
 public:
  QuotasView(Service& service, const Request& request, Json& causes)
      : service_(service), request_(request), causes_(causes) {}

  Status look_at(core::FileId dir, const core::User* user, const core::RegistrySnapshot& registry) {
    STOA_TRY(own, service_.volume.ns().usage(request_.context(), {.dir = dir}));
    STOA_CHECK_OK(add(dir, own, {}, Json::object()));
    if (user == nullptr || !own.counts_owners) return {};
    STOA_TRY(users,
             service_.volume.ns().usage(request_.context(), {.dir = dir, .of = core::QuotaOf::kUser, .id = user->uid}));
    STOA_CHECK_OK(add(dir, users, {.user = user->name}, {{"uid", user->uid}, {"user", user->name}}));
    STOA_TRY(groups, service_.volume.ns().usage(request_.context(),
                                                {.dir = dir, .of = core::QuotaOf::kGroup, .id = user->gid}));
    const core::Group* const group = registry.find_group_by_gid(user->gid);
    const std::string name = group != nullptr ? group->name : std::to_string(user->gid);
    return add(dir, groups, {.group = name},
               {{"gid", user->gid}, {"group", group != nullptr ? Json(group->name) : Json()}});
  }
  Json take() { return std::move(list_); }

 private:
  Status add(core::FileId dir, const core::UsageReply& reply, const QuotaOwner& owner, Json json) {
    if (!reply.limits.any()) return {};
    STOA_TRY(path, service_.volume.ns().path_of(request_.context(), {.id = dir}));
    STOA_TRY(bin, kept_in_bin(service_, request_, dir));
    const bool bin_counts = !owner.user && !owner.group && !reply.excluded.has(core::UsageClass::kRecycled);
    add_quota(causes_, path.path, owner, reply, bin_counts ? bin : core::Usage{});
    json["limits"] = view(reply.limits);
    json["usage"] = view(reply.usage);
    json["usage_counted"] = view(reply.counted);
    json["over_soft_since"] = view(reply.since);
    json["full"] = is_full(reply);
    put_bytes(json, "path", path.path);
    list_.push_back(std::move(json));
    return {};
  }

  Service& service_;
  const Request& request_;
  Json& causes_;
  Json list_ = Json::array();
};

// Whether requests for this place pay the QoS class: those of the named user and client, or of any.
bool concerns(const core::QosTarget& target, const core::User* user, const std::optional<core::Network>& client,
              const std::vector<core::FileId>& directories, const core::RegistrySnapshot& registry) {
  switch (target.kind) {
    case core::QosKind::kDirectory:
      return std::ranges::find(directories, core::FileId{target.id}) != directories.end();
    case core::QosKind::kExport: {
      const core::Export* record = registry.find_export(core::ExportId{static_cast<std::uint32_t>(target.id)});
      return record != nullptr && std::ranges::find(directories, record->root) != directories.end();
    }
    case core::QosKind::kUser:
      return user != nullptr && user->uid == target.id;
    case core::QosKind::kGroup:
      return user != nullptr && user->credentials().in_group(static_cast<std::uint32_t>(target.id));
    case core::QosKind::kClients:
      return !client || target.network.contains(client->address);
    case core::QosKind::kProtocol:
      return true;
    case core::QosKind::kBackground:
      return false;
  }
  return false;
}

}  // namespace

JsonResult explain(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "user", "client"}));
  STOA_TRY(client, client_of(request));
  STOA_TRY(attr, query_path(service, request));
  const auto registry = service.volume.registry().snapshot();
  const core::User* user = nullptr;
  if (const auto it = request.query.find("user"); it != request.query.end()) {
    user = registry->find_user(it->second);
    if (user == nullptr) return fail(Cause::kNameUnknown, "user", it->second);
  }
  STOA_TRY(above, service.volume.ns().ancestors(request.context(), {.id = attr.id}));
  Json causes = Json::array();
  Json json{{"attributes", view(attr)}};
  put_bytes(json, "path", path_of_query(request));
  STOA_TRY(anybody, service.volume.ns().access(request.context(), {.id = attr.id, .wanted = core::kAccessModify}));
  STOA_TRY(sealed, service.volume.ns().sealed(request.context(), {.id = attr.id}));
  if (sealed.by != core::kNoFile) {
    STOA_TRY(by, service.volume.ns().path_of(request.context(), {sealed.by}));
    add_sealed(causes, by.path);
  } else if (anybody.read_only) {
    add_recycled(causes);
  }
  if (user != nullptr) {
    STOA_TRY(access, access_view(service, request, *user, attr, above.directories, causes));
    json["access"] = std::move(access);
  }
  json["exports"] = exports_view(service, *registry, request, above.directories, client, causes);
  QuotasView quotas(service, request, causes);
  for (const core::FileId dir : above.directories) STOA_CHECK_OK(quotas.look_at(dir, user, *registry));
  json["quotas"] = quotas.take();
  json["held"] = held_view(service, attr.id);
  add_held(causes, json["held"]);
  Json& qos_classes = json["qos_classes"] = Json::array();
  for (const core::QosRule* rule : registry->qos_rules()) {
    if (!concerns(rule->target, user, client, above.directories, *registry)) continue;
    qos_classes.push_back(qos_view(service, request, *registry, *rule));
    add_qos_class(causes, qos_classes.back());
  }
  STOA_TRY(space, service.volume.ns().statfs(request.context(), {.id = core::kRootId}));
  json["bytes_free"] = service.space().free;
  const auto disks = service.data_directories();
  add_space(causes, space, disks);
  for (const auto& disk : disks) add_disk(causes, disk);
  add_damage(causes, path_of_query(request), service.volume.damage());
  json["causes"] = std::move(causes);
  return json;
}

}  // namespace stoa::admin

#include "frontends/admin/qos_words.h"

#include <charconv>

#include "frontends/admin/query.h"

namespace stoa::admin {
namespace {

constexpr std::array<std::pair<core::Protocol, std::string_view>, 3> kProtocols{
    {{core::Protocol::kNfs, "nfs"}, {core::Protocol::kS3, "s3"}, {core::Protocol::kNative, "native"}}};

// A user or group by its name or number.
template <class Record>
Result<std::uint32_t> number_of(std::string_view text, const Record* named, std::uint32_t Record::* number,
                                std::string_view what) {
  if (named != nullptr) return named->*number;
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc{} && end == text.data() + text.size()) return id;
  return fail(Cause::kNameOrNumberUnknown, what, text);
}

Result<core::QosTarget> directory_target(Service& service, const Request& request, const std::string& path) {
  auto found = service.volume.ns().resolve_path(request.context(), {.path = path});
  if (!found && found.error().code == Errc::kNotFound) return fail(Cause::kPathUnknown, path);
  if (!found) return fail(std::move(found).error());
  if (found->attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path);
  return core::QosTarget::directory(found->attr.id);
}

std::string target_text(Service& service, const Request& request, const core::RegistrySnapshot& registry,
                        const core::QosTarget& target) {
  const auto id = static_cast<std::uint32_t>(target.id);
  switch (target.kind) {
    case core::QosKind::kProtocol:
      for (const auto& [protocol, name] : kProtocols) {
        if (target.id == static_cast<std::uint64_t>(protocol)) return "protocol:" + std::string(name);
      }
      return "protocol:" + std::to_string(target.id);
    case core::QosKind::kExport: {
      const core::Export* found = registry.find_export(core::ExportId{id});
      return "export:" + (found != nullptr ? found->name : std::to_string(id));
    }
    case core::QosKind::kClients:
      return "client:" + target.network.to_text();
    case core::QosKind::kDirectory: {
      const auto path = service.volume.ns().path_of(request.context(), {.id = core::FileId{target.id}});
      return path ? path->path : "directory:" + std::to_string(target.id);
    }
    case core::QosKind::kGroup: {
      const core::Group* group = registry.find_group_by_gid(id);
      return "group:" + (group != nullptr ? group->name : std::to_string(id));
    }
    case core::QosKind::kUser: {
      const core::User* user = registry.find_user_by_uid(id);
      return "user:" + (user != nullptr ? user->name : std::to_string(id));
    }
    case core::QosKind::kBackground:
      return "background";
  }
  return {};
}

Json limits_view(const qos::Limits& limits) {
  Json json{{"burst_ms", limits.burst.count()}, {"weight", limits.weight}};
  for (std::size_t i = 0; i < qos::kResources; ++i) {
    const std::string name(kResourceNames[i]);
    json[name] = limits.limit[i] ? Json(*limits.limit[i]) : Json();
    json["guarantee_" + name] = limits.guarantee[i] ? Json(*limits.guarantee[i]) : Json();
  }
  return json;
}

Json use_view(const qos::QosUse& use) {
  Json json{{"parked", use.parked}, {"refused", use.refused}, {"waiting", use.waiting}};
  for (std::size_t i = 0; i < qos::kResources; ++i) json[std::string(kResourceNames[i])] = use.admitted[i];
  return json;
}

}  // namespace

Result<core::QosTarget> query_target(Service& service, const Request& request) {
  const auto it = request.query.find("target");
  if (it == request.query.end()) return fail(Cause::kParameterMissing, "target");
  const std::string& text = it->second;
  if (text.starts_with('/')) return directory_target(service, request, text);
  if (text == "background") return core::QosTarget::background();
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view kind = std::string_view(text).substr(0, colon);
  const std::string_view name = std::string_view(text).substr(std::min(colon + 1, text.size()));
  const auto registry = service.volume.registry().snapshot();
  if (kind == "user") {
    STOA_TRY(uid, number_of(name, registry->find_user(name), &core::User::uid, "user"));
    return core::QosTarget::user(uid);
  }
  if (kind == "group") {
    STOA_TRY(gid, number_of(name, registry->find_group(name), &core::Group::gid, "group"));
    return core::QosTarget::group(gid);
  }
  if (kind == "client") {
    STOA_TRY(network, core::Network::parse(name));
    return core::QosTarget::clients(network);
  }
  if (kind == "protocol") {
    for (const auto& [protocol, known] : kProtocols) {
      if (name == known) return core::QosTarget::protocol(protocol);
    }
    return fail(Cause::kNameUnknown, "protocol", name);
  }
  if (kind == "export") {
    const core::Export* found = registry->find_export(name);
    if (found == nullptr) return fail(Cause::kNameUnknown, "export", name);
    return core::QosTarget::of_export(found->id);
  }
  if (kind == "directory") {  // one that is gone has no path
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc{} && end == name.data() + name.size()) return core::QosTarget::directory(core::FileId{id});
  }
  return fail(Cause::kTargetForm, text);
}

Json qos_view(Service& service, const Request& request, const core::RegistrySnapshot& registry,
              const core::QosRule& rule) {
  Json json{{"limits", limits_view(rule.limits)}};
  put_bytes(json, "target", target_text(service, request, registry, rule.target));
  json["use"] = use_view(registry.qos_use(rule.target));
  return json;
}

}  // namespace stoa::admin

#include <unistd.h>

#include <cstdio>

#include "frontends/admin/causes.h"
#include "frontends/admin/health_view.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/sentences.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

std::string_view to_string(CheckJob::State state) {
  switch (state) {
    case CheckJob::State::kIdle:
      return "idle";
    case CheckJob::State::kRunning:
      return "running";
    case CheckJob::State::kDone:
      return "done";
    case CheckJob::State::kFailed:
      return "failed";
  }
  return "";
}

Json check_view(const CheckJob::Snapshot& snapshot) {
  Json json{{"state", to_string(snapshot.state)}};
  if (snapshot.state == CheckJob::State::kIdle) return json;
  json["read_data"] = snapshot.read_data;
  json["started"] = time_text(snapshot.started);
  json["done"] = snapshot.done;
  json["total"] = snapshot.total;
  if (snapshot.state != CheckJob::State::kRunning) json["finished"] = time_text(snapshot.finished);
  if (snapshot.state == CheckJob::State::kDone) json["report"] = view(snapshot.report);
  if (snapshot.state == CheckJob::State::kFailed) json["error"] = snapshot.error;
  return json;
}

Result<Json> volume_view(Service& service, const Request& request) {
  const core::VolumeInfo info = service.volume.info();
  STOA_TRY(room, service.volume.ns().statfs(request.context(), {.id = core::kRootId}));
  const core::BlobStore::Space disks = service.space();
  STOA_TRY(used, service.volume.ns().usage(request.context(), {.dir = core::kRootId}));
  char id[17];
  std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(info.id));
  return Json{{"id", id},
              {"name", info.name},
              {"created", time_text(info.created)},
              {"usage", view(used.usage)},
              {"space", {{"total", disks.total}, {"free", disks.free}, {"available", available(disks, room)}}}};
}

}  // namespace

Reply get_health(Service& service, const Request& request) {
  // Real operations, so that a volume that no longer answers, or keeps, is not called healthy.
  const auto root = service.volume.ns().getattr(request.context(), {.id = core::kRootId});
  if (!root) return {.status = 503, .content_type = "text/plain", .body = sentence(root.error()) + "\n"};
  // A caller without a token learns no paths.
  std::string body;
  bool failing = false;
  for (const core::Problem& problem : service.volume.health()) {
    failing = failing || core::fails(problem);
    body.append(to_string(problem.kind)).append("\n");
  }
  return {.status = failing ? 503U : 200U, .content_type = "text/plain", .body = failing ? body : "ok\n" + body};
}

Reply get_metrics(Service& service, const Request&) {
  return {.status = 200, .content_type = "text/plain; version=0.0.4", .body = service.metrics.render()};
}

JsonResult get_version(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  return Json{{"version", service.version}};
}

JsonResult get_volume(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  return volume_view(service, request);
}

// Configurations that cannot work.
Json warnings(const Service& service) {
  Json list = Json::array();
  const auto registry = service.volume.registry().snapshot();
  const Status kerberos = service.kerberos();
  for (const core::Export& record : registry->exports()) {
    if (const auto lockout = nfs_lockout(record, kerberos)) list.push_back(*lockout);
  }
  return list;
}

JsonResult get_status(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(volume, volume_view(service, request));
  Json protocols = Json::array();
  for (const ProtocolStatus& protocol : service.protocols()) {
    protocols.push_back({{"name", protocol.name}, {"open", protocol.open}, {"address", protocol.address}});
  }
  Json folders = Json::array();
  for (const auto& folder : service.data_directories()) {
    folders.push_back({{"path", folder.path},
                       {"ok", folder.ok},
                       {"problem", folder.problem},
                       {"total", folder.space.total},
                       {"free", folder.space.free}});
  }
  Json damage = Json::array();
  for (const core::DamagedRange& range : service.volume.damage()) damage.push_back(view(range));
  Json problems = Json::array();
  for (const core::Problem& problem : service.volume.health()) problems.push_back(view(problem));
  return Json{{"healthy", problems.empty()},
              {"problems", std::move(problems)},
              {"version", service.version},
              {"pid", getpid()},
              {"started", time_text(service.started)},
              {"data", service.data_folder},
              {"engine", service.engine},
              {"volume", std::move(volume)},
              {"protocols", std::move(protocols)},
              {"data_directories", std::move(folders)},
              {"damage", std::move(damage)},
              {"warnings", warnings(service)},
              {"check", to_string(service.check.snapshot().state)}};
}

JsonResult get_check(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  return check_view(service.check.snapshot());
}

JsonResult start_check(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const bool read_data = body.flag("read_data").value_or(false);
  STOA_CHECK_OK(body.finish());
  STOA_CHECK_OK(service.check.start(read_data));
  return check_view(service.check.snapshot());
}

}  // namespace stoa::admin

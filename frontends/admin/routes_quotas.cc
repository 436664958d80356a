#include <limits>

#include "frontends/admin/json_body.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

constexpr std::uint32_t kPageMax = 1000;

Result<core::FileId> directory_of(Service& service, const Request& request) {
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory)
    return fail(Errc::kNotDirectory,
                "'" + path_of_query(request) + "' is not a directory; quotas belong to directories");
  return attr.id;
}

Result<Json> quota_view(Service& service, const Request& request, core::FileId dir) {
  STOA_TRY(reply, service.volume.ns().usage(request.context(), {.dir = dir}));
  Json json{{"limits", view(reply.limits)}, {"usage", view(reply.usage)}};
  put_bytes(json, "path", path_of_query(request));
  return json;
}

}  // namespace

JsonResult list_quotas(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"after", "limit"}));
  STOA_TRY(after, query_number(request, "after", 0, std::numeric_limits<std::uint64_t>::max()));
  STOA_TRY(limit, query_number(request, "limit", kPageMax, kPageMax));
  STOA_TRY(reply, service.volume.ns().list_quotas(
                      request.context(), {.after = core::FileId{after}, .limit = static_cast<std::uint32_t>(limit)}));
  Json list = Json::array();
  for (const core::QuotaRecord& record : reply.quotas) {
    Json json{{"directory_id", std::to_string(static_cast<std::uint64_t>(record.dir))},
              {"limits", view(record.limits)},
              {"usage", view(record.usage)}};
    put_bytes(json, "path", record.path);
    list.push_back(std::move(json));
  }
  Json json{{"quotas", std::move(list)}, {"truncated", reply.truncated}};
  if (reply.truncated && !reply.quotas.empty())
    json["next_after"] = std::to_string(static_cast<std::uint64_t>(reply.quotas.back().dir));
  return json;
}

JsonResult get_quota(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(dir, directory_of(service, request));
  return quota_view(service, request, dir);
}

JsonResult set_quota(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::QuotaLimits limits;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!body.is_null("bytes")) limits.bytes = body.number("bytes", kMost);
  if (!body.is_null("files")) limits.files = body.number("files", kMost);
  STOA_CHECK_OK(body.finish());
  if (!limits.bytes && !limits.files)
    return fail(Errc::kInvalid, "give 'bytes', 'files' or both; to take a quota away use DELETE (stoa quota remove)");
  STOA_TRY(dir, directory_of(service, request));
  STOA_CHECK_OK(service.volume.ns().set_quota(request.context(), {.dir = dir, .limits = limits}));
  return quota_view(service, request, dir);
}

JsonResult remove_quota(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(dir, directory_of(service, request));
  STOA_TRY(reply, service.volume.ns().usage(request.context(), {.dir = dir}));
  if (reply.limits == core::QuotaLimits{})
    return fail(Errc::kNotFound, "'" + path_of_query(request) + "' has no quota");
  STOA_CHECK_OK(service.volume.ns().set_quota(request.context(), {.dir = dir, .limits = {}}));
  return Json();
}

}  // namespace stoa::admin

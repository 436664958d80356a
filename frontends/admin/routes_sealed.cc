// Sealed directories.
#include "frontends/admin/json_body.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

// How long a client that has writes of its own may take to send them.
constexpr std::chrono::milliseconds kRecallPatience{45'000};

JsonResult sealed_view(Service& service, const Request& request, core::FileId id) {
  STOA_TRY(sealed, service.volume.ns().sealed(request.context(), {.id = id}));
  Json json{{"sealed", sealed.by != core::kNoFile}, {"own", sealed.by == id}, {"sealed_by", nullptr}};
  put_bytes(json, "path", path_of_query(request));
  if (sealed.by == core::kNoFile) return json;
  STOA_TRY(by, service.volume.ns().path_of(request.context(), {sealed.by}));
  put_bytes(json, "sealed_by", by.path);
  return json;
}

}  // namespace

JsonResult get_sealed(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(attr, query_path(service, request));
  return sealed_view(service, request, attr.id);
}

JsonResult set_sealed(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto wanted = body.flag("sealed");
  if (!wanted) body.refuse("sealed", "must be true or false");
  STOA_CHECK_OK(body.finish());
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory)
    return fail(Errc::kNotDirectory, "'" + path_of_query(request) + "' is not a directory");
  core::OpContext ctx = request.context();
  ctx.lease_patience = kRecallPatience;
  STOA_CHECK_OK(service.volume.ns().set_sealed(ctx, {.dir = attr.id, .sealed = *wanted}));
  return sealed_view(service, request, attr.id);
}

}  // namespace stoa::admin

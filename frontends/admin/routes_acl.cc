#include "core/api/acl_text.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

JsonResult acl_view(Service& service, const Request& request, core::FileId id) {
  STOA_TRY(reply, service.volume.ns().get_acl(request.context(), {.id = id}));
  Json json{{"acl", core::print_acl(*reply.acl)},
            {"chmod", core::to_string(reply.acl->chmod)},
            {"stored", reply.stored},
            {"mode", view(reply.attr)["mode"]}};
  put_bytes(json, "path", path_of_query(request));
  return json;
}

}  // namespace

JsonResult get_acl(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(attr, query_path(service, request));
  return acl_view(service, request, attr.id);
}

JsonResult set_acl(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto text = body.text("acl");
  const auto policy = body.text("chmod");
  core::SetAttributes set;
  if (policy) {
    set.chmod_policy = core::parse_chmod_policy(*policy);
    if (!set.chmod_policy) body.refuse("chmod", "must be keep, mask, replace or refuse");
  }
  STOA_CHECK_OK(body.finish());
  if (!text && !policy) return fail(Cause::kParameterChoice, "'acl' and 'chmod', or both");
  if (text) {
    const auto registry = service.volume.registry().snapshot();
    STOA_TRY(parsed, core::parse_acl(*text, [&](std::string_view name, bool group) -> std::optional<std::uint32_t> {
               const core::User* const user = group ? nullptr : registry->find_user(name);
               if (user != nullptr) return user->uid;
               const core::Group* const named = group ? registry->find_group(name) : nullptr;
               return named != nullptr ? std::optional(named->gid) : std::nullopt;
             }));
    if (parsed.chmod && policy) return fail(Cause::kMemberTwice, "chmod");
    if (parsed.chmod) set.chmod_policy = parsed.chmod;
    set.acl = std::make_shared<const core::Acl>(std::move(parsed.acl));
  }
  STOA_TRY(attr, query_path(service, request));
  const std::string path = path_of_query(request);
  if (set.chmod_policy && attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path);
  if (set.acl != nullptr && attr.type == core::FileType::kSymlink) return fail(Cause::kPathIsLink, path);
  STOA_CHECK_OK(service.volume.ns().setattr(request.context(), {.id = attr.id, .set = set}));
  return acl_view(service, request, attr.id);
}

}  // namespace stoa::admin

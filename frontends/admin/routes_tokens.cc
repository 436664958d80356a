// Access to the admin interface: sessions, and tokens with their roles.
#include "frontends/admin/authentication.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

// The present path of the directory; null: it is gone, or the role has none.
void put_directory(Json& json, Service& service, const Request& request, core::FileId directory) {
  json["directory"] = Json();
  if (directory == core::kNoFile) return;
  const auto path = service.volume.ns().path_of(request.context(), {.id = directory});
  if (path) put_bytes(json, "directory", path->path);
}

Json token_view(Service& service, const Request& request, const core::Token& token) {
  const auto time = [](Timestamp at) { return at != Timestamp{} ? Json(time_text(at)) : Json(); };
  Json json{{"name", token.name},
            {"role", to_string(token.role)},
            {"created", time_text(token.created)},
            {"expires", time(token.expires)},
            {"last_used", time(service.volume.registry().last_use(token))}};
  put_directory(json, service, request, token.directory);
  return json;
}

std::optional<core::Role> parse_role(std::string_view text) {
  for (const core::Role role : {core::Role::kOwner, core::Role::kAuditor, core::Role::kOperator, core::Role::kAdmin}) {
    if (to_string(role) == text) return role;
  }
  return {};
}

Result<core::FileId> directory_at(Service& service, const Request& request, const std::string& path) {
  auto found = service.volume.ns().resolve_path(request.context(), {.path = path});
  if (!found && found.error().code == Errc::kNotFound) return fail(Cause::kPathUnknown, path);
  if (!found) return fail(std::move(found).error());
  if (found->attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path);
  return found->attr.id;
}

}  // namespace

JsonResult get_session(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  Json json{{"name", request.caller->name}, {"role", to_string(request.caller->role)}};
  put_directory(json, service, request, request.caller->directory);
  return json;
}

JsonResult list_tokens(Service& service, const Request& request) {
  const auto registry = service.volume.registry().snapshot();
  return page_by_name(request, "tokens", registry->tokens(),
                      [&](const core::Token& token) { return token_view(service, request, token); });
}

JsonResult add_token(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::Token token;
  token.name = body.text("name").value_or("");
  if (token.name.empty()) body.missing("name");
  const auto role = parse_role(body.text("role").value_or(""));
  if (!role) body.refuse("role", "must be admin, operator, auditor or owner");
  const auto directory = body.text("directory");
  const auto expires = body.text("expires");
  const auto end = expires ? parse_time(*expires) : std::nullopt;
  if (expires && !end) body.refuse("expires", "must be a time such as 2026-12-31T23:59:59Z");
  STOA_CHECK_OK(body.finish());
  token.role = *role;
  if ((token.role == core::Role::kOwner) != directory.has_value()) return fail(Cause::kTokenDirectory);
  if (directory) {
    STOA_TRY(id, directory_at(service, request, *directory));
    token.directory = id;
  }
  token.created = wall_now();
  token.expires = end.value_or(Timestamp{});
  const std::string secret = make_secret();
  token.hash = hash_of(secret);
  STOA_CHECK_OK(service.volume.registry().add_token(token, request.until()));
  Json json = token_view(service, request, token);
  json["token"] = secret;
  return json;
}

JsonResult remove_token(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_CHECK_OK(service.volume.registry().remove_token(request.arguments[0], request.until()));
  return Json();
}

}  // namespace stoa::admin

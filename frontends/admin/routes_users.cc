#include <algorithm>
#include <limits>

#include "frontends/admin/free_number.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

Result<core::User> find(Service& service, const std::string& name) {
  const auto snapshot = service.volume.registry().snapshot();
  const core::User* user = snapshot->find_user(name);
  if (user == nullptr) return fail(Cause::kNameUnknown, "user", name);
  return *user;
}

// The state after a change, under edit_mutex.
Json view_now(Service& service, const std::string& name) {
  const auto snapshot = service.volume.registry().snapshot();
  return view(*snapshot->find_user(name), *snapshot);
}

// Given keys, or fresh ones; half a pair is refused.
Result<core::S3Key> read_key(JsonBody& body) {
  const auto access = body.text("access_key");
  const auto secret = body.text("secret_key");
  if (access.has_value() != secret.has_value()) {
    return fail(Cause::kKeyHalf);
  }
  core::S3Key key = core::make_s3_key();
  if (access) key = {.access_key = *access, .secret_key = *secret};
  key.enabled = body.flag("enabled").value_or(true);
  return key;
}

std::vector<core::S3Key>::iterator find_key(core::User& user, const std::string& access_key) {
  return std::ranges::find(user.keys, access_key, &core::S3Key::access_key);
}

std::unexpected<Error> no_key(const Request& request) {
  return fail(Cause::kKeyUnknown, request.arguments[0], request.arguments[1]);
}

}  // namespace

JsonResult list_users(Service& service, const Request& request) {
  const auto snapshot = service.volume.registry().snapshot();
  return page_by_name(request, "users", snapshot->users(),
                      [&](const core::User& user) { return view(user, *snapshot); });
}

JsonResult create_user(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::User user;
  user.name = body.text("name").value_or("");
  if (user.name.empty()) body.missing("name");
  const auto uid = body.id("uid");
  const auto gid = body.id("gid");
  user.groups = body.ids("groups").value_or(user.groups);
  user.principal = body.text("principal").value_or(user.principal);
  user.sid = body.text("sid").value_or(user.sid);
  const bool with_key = body.flag("create_key").value_or(false);
  core::S3Key key;
  if (with_key) {
    STOA_TRY(made, read_key(body));
    key = made;
    user.keys.push_back(key);
  }
  STOA_CHECK_OK(body.finish());

  const std::lock_guard lock(service.edit_mutex);
  const auto snapshot = service.volume.registry().snapshot();
  STOA_TRY(own, uid ? own_group_of(*snapshot, *uid) : free_number(*snapshot));
  user.uid = uid.value_or(own);
  user.gid = gid.value_or(own);
  STOA_CHECK_OK(service.volume.registry().add_user(user, request.until()));
  Json json = view_now(service, user.name);
  if (with_key) json["key"] = view(key);
  return json;
}

JsonResult get_user(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(user, find(service, request.arguments[0]));
  return view(user, *service.volume.registry().snapshot());
}

JsonResult change_user(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const std::lock_guard lock(service.edit_mutex);
  STOA_TRY(user, find(service, request.arguments[0]));
  user.uid = body.id("uid").value_or(user.uid);
  user.gid = body.id("gid").value_or(user.gid);
  user.groups = body.ids("groups").value_or(user.groups);
  user.principal = body.text("principal").value_or(user.principal);
  user.sid = body.text("sid").value_or(user.sid);
  STOA_CHECK_OK(body.finish());
  STOA_CHECK_OK(service.volume.registry().change_user(user, request.until()));
  return view_now(service, user.name);
}

JsonResult remove_user(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const std::lock_guard lock(service.edit_mutex);
  STOA_CHECK_OK(service.volume.registry().remove_user(request.arguments[0], request.until()));
  return Json();
}

JsonResult list_keys(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(user, find(service, request.arguments[0]));
  Json list = Json::array();
  for (const core::S3Key& key : user.keys) list.push_back(view(key));
  return Json{{"keys", std::move(list)}};
}

JsonResult add_key(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  STOA_TRY(key, read_key(body));
  STOA_CHECK_OK(body.finish());
  const std::lock_guard lock(service.edit_mutex);
  STOA_TRY(user, find(service, request.arguments[0]));
  user.keys.push_back(key);
  STOA_CHECK_OK(service.volume.registry().change_user(user, request.until()));
  return view(key);
}

JsonResult change_key(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto enabled = body.flag("enabled");
  if (!enabled) body.missing("enabled");
  STOA_CHECK_OK(body.finish());
  const std::lock_guard lock(service.edit_mutex);
  STOA_TRY(user, find(service, request.arguments[0]));
  const auto key = find_key(user, request.arguments[1]);
  if (key == user.keys.end()) return no_key(request);
  key->enabled = *enabled;
  STOA_CHECK_OK(service.volume.registry().change_user(user, request.until()));
  return Json{{"access_key", key->access_key}, {"enabled", key->enabled}};
}

JsonResult remove_key(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const std::lock_guard lock(service.edit_mutex);
  STOA_TRY(user, find(service, request.arguments[0]));
  const auto key = find_key(user, request.arguments[1]);
  if (key == user.keys.end()) return no_key(request);
  user.keys.erase(key);
  STOA_CHECK_OK(service.volume.registry().change_user(user, request.until()));
  return Json();
}

}  // namespace stoa::admin

// Keys of hosts that use the native protocol.
#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

Json host_key_view(const HostKey& key) {
  return {{"name", key.name}, {"key", key.key}, {"created", time_text(key.created)}};
}

}  // namespace

JsonResult list_host_keys(Service& service, const Request& request) {
  return page_by_name(request, "host_keys", service.list_host_keys(), host_key_view);
}

JsonResult add_host_key(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const std::string name = body.text("name").value_or("");
  if (name.empty()) body.refuse("name", "is missing");
  STOA_CHECK_OK(body.finish());
  STOA_TRY(key, service.add_host_key(name));
  Json json = host_key_view(key);
  json["secret"] = key.secret;
  return json;
}

JsonResult remove_host_key(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_CHECK_OK(service.remove_host_key(request.arguments[0]));
  return Json();
}

}  // namespace stoa::admin

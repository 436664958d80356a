#include "frontends/admin/free_number.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
JsonResult list_groups(Service& service, const Request& request) {
  const auto snapshot = service.volume.registry().snapshot();
  return page_by_name(request, "groups", snapshot->groups(),
                      [&](const core::Group& group) { return view(group, *snapshot); });
}

JsonResult create_group(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::Group group;
  group.name = body.text("name").value_or("");
  if (group.name.empty()) body.missing("name");
  const auto gid = body.id("gid");
  group.sid = body.text("sid").value_or("");
  STOA_CHECK_OK(body.finish());

  const std::lock_guard lock(service.edit_mutex);
  if (gid) {
    group.gid = *gid;
  } else {
    STOA_TRY(fresh, free_number(*service.volume.registry().snapshot()));
    group.gid = fresh;
  }
  STOA_CHECK_OK(service.volume.registry().add_group(group, request.until()));
  return view(group, *service.volume.registry().snapshot());
}

JsonResult remove_group(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const std::lock_guard lock(service.edit_mutex);
  STOA_CHECK_OK(service.volume.registry().remove_group(request.arguments[0], request.until()));
  return Json();
}

}  // namespace stoa::admin

// View of the holders that have a file open or locked.
#pragma once

#include "frontends/admin/service.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

// {"opens": {"total": …, "list": […]}, "locks": …, "leases": …, "waiting": …}: each with its client, up to 100 of each
// kind. A client that is just coming or going has an id only.
Json held_view(Service& service, core::FileId file);

}  // namespace stoa::admin

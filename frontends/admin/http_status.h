// The one table from storage errors to HTTP statuses of the admin interface.
#pragma once

#include "base/error.h"

namespace stoa::admin {
unsigned http_status(Errc code);
}  // namespace stoa::admin

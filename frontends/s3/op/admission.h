// The network rules of an export, as they bind S3 clients.
#pragma once

#include <cstdint>

#include "core/api/registry.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

enum class Admission : std::uint8_t { kRefused, kReadOnly, kReadWrite };

// The upper limit of the client's access to `bucket`, by its address. An export without rules admits all
// clients: each S3 request is authenticated. For the same reason no user is squashed here.
Admission admission(const core::Export& bucket, const Request& request);

}  // namespace stoa::s3

// The network rules of an export, as they bind S3 clients.
#pragma once

#include <cstdint>

#include "core/api/registry.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

enum class Admission : std::uint8_t { kRefused, kReadOnly, kReadWrite };

// What the client of `request` may do with `bucket` at most, from where it is. An export without rules admits
// everybody: an S3 client shows with each request who it is. For the same reason nobody is squashed here.
Admission admission(const core::Export& bucket, const Request& request);

}  // namespace stoa::s3

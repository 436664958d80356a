// The region requested by CreateBucket, against that of this server.
#pragma once

#include <string_view>

#include "frontends/s3/error.h"

namespace stoa::s3 {

// Buckets are made where the request arrives. `wanted`: LocationConstraint, empty when there is none, which means
// us-east-1. kIllegalLocationConstraint: another region of AWS; kInvalidLocationConstraint: no region at all.
Outcome<void> check_location_constraint(std::string_view wanted, std::string_view region);

}  // namespace stoa::s3

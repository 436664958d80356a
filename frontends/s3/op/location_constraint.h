// The region that CreateBucket asks for, against the one that this server is.
#pragma once

#include <string_view>

#include "frontends/s3/error.h"

namespace stoa::s3 {

// Buckets are made where the request arrives. `wanted`: LocationConstraint, empty when there is none, which means
// us-east-1. kIllegalLocationConstraint: a region of AWS, but another; kInvalidLocationConstraint: no region at all.
Outcome<void> check_location_constraint(std::string_view wanted, std::string_view region);

}  // namespace stoa::s3

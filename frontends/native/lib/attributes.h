// Attributes of files as stoa.h has them.
#pragma once

#include "core/api/attributes.h"
#include "frontends/native/lib/stoa.h"

namespace stoa::native::lib {

stoa_attributes to_c(const core::Attributes& attr);

}  // namespace stoa::native::lib

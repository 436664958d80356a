// Problems of a volume and damaged content as JSON: facts for programs, and a sentence.
#pragma once

#include <string>

#include "core/volume/volume.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

// {"kind": …, "path": …, "facts": {…}, "text": …}; openapi.yaml lists the facts.
Json view(const core::Problem& problem);
// {"id": …, "path": …, "offset": …, "length": …, "text": …}
Json view(const core::DamagedRange& range);

}  // namespace stoa::admin

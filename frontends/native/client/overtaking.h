// What a batch does to writes of its files that are older and not committed.
#pragma once

#include <vector>

#include "frontends/native/client/batch.h"

namespace stoa::native {

// An operation after which older writes of its file must not be written again, or could not be. `file` 0: any.
struct Overtaking {
  U64 file = 0;
  U64 open = 0;  // a close
  bool stable_write = false;
};

std::vector<Overtaking> changes_of(const Batch& batch);

}  // namespace stoa::native

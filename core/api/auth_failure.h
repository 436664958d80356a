// What a front end tells of a request that it refused before it was anybody's: whoever asked is not known, only what he
// says to be.
#pragma once

#include <string_view>

#include "core/api/ids.h"

namespace stoa::core {

struct AuthFailure {
  std::string_view request;    // in the protocol's words: "MNT /projects", "GET /bucket/key"
  std::string_view reason;     // "no rule for this address", "SignatureDoesNotMatch"
  std::string_view claimed;    // "uid 1000", "access key AKIA..."; empty: nothing. Not proven
  FileId directory = kRootId;  // that it is about, whose policy decides whether it is recorded; the root: no other
};

}  // namespace stoa::core

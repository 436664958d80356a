// A request that a front end rejected before authentication. The identity in it is claimed, not verified.
#pragma once

#include <string_view>

#include "core/api/ids.h"

namespace stoa::core {

struct AuthFailure {
  std::string_view request;    // in terms of the protocol: "MNT /projects", "GET /bucket/key"
  std::string_view reason;     // "no rule for this address", "SignatureDoesNotMatch"
  std::string_view claimed;    // "uid 1000", "access key AKIA..."; empty: nothing. Not proven
  FileId directory = kRootId;  // directory of the request; its policy decides whether the refusal is recorded; the
                               // root: no other
};

}  // namespace stoa::core

// Whom a log-in has proven to be.
#pragma once

#include <string>

#include "frontends/native/protocol/message.h"

namespace stoa::native {

struct Principal {
  KeyKind kind = KeyKind::kUser;
  std::string name;  // of the user, of the host's key, or of Kerberos: "ann@EXAMPLE.ORG"
  bool operator==(const Principal&) const = default;
  std::string text() const {
    const char* const what = kind == KeyKind::kHost ? "host " : kind == KeyKind::kUser ? "user " : "principal ";
    return what + name;
  }
};

}  // namespace stoa::native

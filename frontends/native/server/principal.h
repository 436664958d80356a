// Whom a log-in has proven to be.
#pragma once

#include <string>

#include "frontends/native/protocol/message.h"

namespace stoa::native {

struct Principal {
  KeyKind kind = KeyKind::kUser;
  std::string name;  // of the user, or of the host's key
  bool operator==(const Principal&) const = default;
  std::string text() const { return (kind == KeyKind::kHost ? "host " : "user ") + name; }
};

}  // namespace stoa::native

// The key that a client logs in with, from a file that nobody else may read.
#pragma once

#include <string>

#include "base/error.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

struct ClientKey {
  KeyKind kind = KeyKind::kUser;
  std::string key;
  std::string secret;
};

// One line: "user KEY SECRET" or "host KEY SECRET"; lines that begin with # say nothing. kInvalid, kNotFound, kAccess
// (others may read it), with a sentence for people that never has the secret.
Result<ClientKey> read_key_file(const std::string& path);

}  // namespace stoa::native

// The key that a client logs in with, from a file that nobody else may read.
#pragma once

#include <string>

#include "base/error.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

struct ClientKey {
  KeyKind kind = KeyKind::kUser;
  std::string key{};  // empty with kKerberos, as is the secret
  std::string secret{};
};

// One line: "user KEY SECRET" or "host KEY SECRET"; lines that begin with # say nothing. kInvalid, kNotFound, kAccess
// (others may read it), with a sentence for people that never has the secret.
Result<ClientKey> read_key_file(const std::string& path);
// What a client logs in with: Kerberos, or the key of the file.
inline Result<ClientKey> choose_key(bool kerberos, const std::string& path) {
  return kerberos ? Result<ClientKey>(ClientKey{.kind = KeyKind::kKerberos}) : read_key_file(path);
}

}  // namespace stoa::native

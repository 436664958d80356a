#include "frontends/s3/auth/signing_keys.h"

#include <mutex>

namespace stoa::s3 {

Sha256Value SigningKeys::get(std::string_view secret_key, const CredentialScope& scope) {
  // The secret is part of the name, so that a key that was changed is not found under its old value.
  std::string name;
  name.reserve(128);
  name.append(scope.access_key).append("\n").append(secret_key).append("\n");
  name.append(scope.date).append("\n").append(scope.region);
  {
    const std::shared_lock lock(mutex_);
    const auto found = keys_.find(name);
    if (found != keys_.end()) return found->second;
  }
  const Sha256Value key = signing_key(secret_key, scope);
  const std::unique_lock lock(mutex_);
  if (keys_.size() >= kKeysMax) keys_.clear();
  keys_.emplace(std::move(name), key);
  return key;
}

}  // namespace stoa::s3

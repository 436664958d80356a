// Derived signing keys, kept because making one costs four HMACs and it is the same for a day.
#pragma once

#include <array>
#include <map>
#include <shared_mutex>
#include <string>

#include "frontends/s3/auth/sigv4.h"

namespace stoa::s3 {

class SigningKeys {
 public:
  // The key of this secret for this scope. Thread-safe. The cache is bounded and forgets all at once when full.
  Sha256Value get(std::string_view secret_key, const CredentialScope& scope);

 private:
  static constexpr std::size_t kKeysMax = 4096;
  std::shared_mutex mutex_;  // guards keys_
  std::map<std::string, Sha256Value, std::less<>> keys_;
};

}  // namespace stoa::s3

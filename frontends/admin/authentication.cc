#include "frontends/admin/authentication.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sys/random.h>

#include "base/assert.h"
#include "frontends/admin/service.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

constexpr std::string_view kScheme = "Bearer ";
constexpr std::string_view kPrefix = "stoa_";

// Takes the same time wherever the two differ.
bool same(const core::TokenHash& a, const core::TokenHash& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

core::TokenHash hash_of(std::string_view secret) {
  core::TokenHash hash{};
  STOA_ASSERT(gnutls_hash_fast(GNUTLS_DIG_SHA256, secret.data(), secret.size(), hash.data()) == 0);
  return hash;
}

std::string make_secret() {
  unsigned char random[32];
  STOA_ASSERT(getrandom(random, sizeof random, 0) == sizeof random);  // never short up to 256 bytes (getrandom(2))
  std::string secret(kPrefix);
  for (const unsigned char byte : random) {
    constexpr char kHex[] = "0123456789abcdef";
    secret += kHex[byte >> 4];
    secret += kHex[byte & 15];
  }
  return secret;
}

Result<Caller> authenticate(Service& service, std::string_view authorization, Timestamp now) {
  if (!authorization.starts_with(kScheme)) return fail(Cause::kTokenMissing);
  // Hashes are compared, so that neither the length nor the beginning of a secret can be found by timing.
  const core::TokenHash hash = hash_of(authorization.substr(kScheme.size()));
  if (same(hash, hash_of(service.token)))
    return Caller{.name = std::string(core::kBuiltInToken), .role = core::Role::kAdmin};
  const auto registry = service.volume.registry().snapshot();
  const core::Token* token = registry->find_token(hash);
  if (token == nullptr || !same(token->hash, hash)) return fail(Cause::kTokenUnknown);
  if (token->expired(now)) return fail(Cause::kTokenExpired, token->name, time_text(token->expires));
  service.volume.registry().note_use(*token, now);
  return Caller{.name = token->name, .role = token->role, .directory = token->directory};
}

}  // namespace stoa::admin

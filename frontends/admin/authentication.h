// Authentication by token: finds the token in the header Authorization.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/token.h"
#include "frontends/admin/access.h"

namespace stoa::admin {

struct Service;

core::TokenHash hash_of(std::string_view secret);
// 256 random bits in a form that scanners for lost secrets know by its beginning: "stoa_" and 64 hex digits.
std::string make_secret();

// Authenticates the caller. kAccess, with a sentence: no token, an unknown one (a removed one is), or one
// that has expired.
Result<Caller> authenticate(Service& service, std::string_view authorization, Timestamp now);

}  // namespace stoa::admin

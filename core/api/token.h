// Tokens of the admin interface: role and scope of a caller.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/api/ids.h"

namespace stoa::core {

// Each role includes those before it, except the owner, which is limited to one directory. Persistent: never
// renumber.
enum class Role : std::uint8_t {
  kOwner = 1,     // quotas below a directory, its recycle bin, usage and listing; nothing else
  kAuditor = 2,   // reads everything but secrets, changes nothing
  kOperator = 3,  // all but identities, keys, tokens and permissions
  kAdmin = 4,     // all
};

using TokenHash = std::array<std::uint8_t, 32>;  // SHA-256 of the secret, which is stored nowhere

struct Token {
  std::string name;
  Role role = Role::kAuditor;
  FileId directory = kNoFile;  // of an owner: the directory itself, regardless of renames
  TokenHash hash{};
  Timestamp created{};
  Timestamp expires{};  // {}: never

  bool expired(Timestamp now) const { return expires != Timestamp{} && now >= expires; }
};

// The token of the data folder, which has no record. No other may be named so.
inline constexpr std::string_view kBuiltInToken = "admin.token";

}  // namespace stoa::core

// Users and groups as strings (RFC 8881 5.9): owner, owner_group and the who of an ACE. "ann@example.org" or "1000".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/api/registry.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

inline constexpr std::size_t kIdNameBytesMax = 1024;  // of such a string from a client

// The meaning of one caller's strings.
struct IdNames {
  const core::RegistrySnapshot& registry;
  std::string_view domain;
  // Names are sent where there is one. Else numbers, which clients with numbers in AUTH_SYS understand everywhere.
  bool show_names = false;
};
// Callers with Kerberos see names, others numbers.
IdNames id_names(const Compound& c);

// A number without leading zeros means itself.
std::string user_to_text(const IdNames& names, std::uint32_t uid);
std::string group_to_text(const IdNames& names, std::uint32_t gid);

// Accepts numbers and names in either mode. Empty: not known, or of another domain (NFS4ERR_BADOWNER).
std::optional<std::uint32_t> user_from_text(const IdNames& names, std::string_view text);
std::optional<std::uint32_t> group_from_text(const IdNames& names, std::string_view text);

}  // namespace stoa::nfs4

// Permission bits as S3 grants.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::s3 {

struct Grant {
  std::string grantee;  // a user's id, or the URI of a group
  bool group = false;
  std::string permission;  // "FULL_CONTROL"
  auto operator<=>(const Grant&) const = default;
};

// The owner has full control; the mode's rights for others go to authenticated users (there are no others).
std::vector<Grant> grants_of(std::string_view owner, std::uint32_t mode);
std::string acl_document(std::string_view owner, const std::vector<Grant>& grants);

}  // namespace stoa::s3

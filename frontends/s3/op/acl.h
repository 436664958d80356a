// Permission bits as S3 grants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoa::s3 {

// The owner has full control; what the mode gives to everybody is given to authenticated users (there are no others).
std::string acl_document(std::string_view owner, std::uint32_t mode);

}  // namespace stoa::s3

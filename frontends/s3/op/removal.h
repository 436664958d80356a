// The removal of an object, alone or as one of many.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "frontends/s3/op/objects.h"

namespace stoa::s3 {

// Preconditions on the object; all absent: it is removed unconditionally.
struct RemovalConditions {
  std::optional<std::string_view> etag{};
  std::optional<std::uint64_t> size{};
  std::optional<std::int64_t> modified{};  // seconds
  bool any() const { return etag || size || modified; }
};

// Parsed from the client's values. kInvalidArgument, named by `size_name` or `modified_name`.
Outcome<RemovalConditions> read_removal_conditions(std::optional<std::string_view> etag, std::string_view size_name,
                                                   std::optional<std::string_view> size, std::string_view modified_name,
                                                   std::optional<std::string_view> modified);

// Success when there is nothing, with conditions as without. kPreconditionFailed, kAccessDenied, ...
Outcome<void> remove_object(const Call& call, std::string_view key, const RemovalConditions& conditions);

}  // namespace stoa::s3

// Resolution of a key to the directory and component that it names: "a/b/c" below a root is component "c" of directory
// a/b.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/requests.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

struct KeyParts {
  std::vector<std::string_view> directories;
  std::string_view last;  // empty for keys that end in '/': the folder marker

  std::string below() const;  // the directories, each with a '/' behind it
};
// Errors: kInvalid for an empty key; kNameTooLong over kKeyBytesMax.
Result<KeyParts> split_key(std::string_view key);

// Walks the directories. kNotFound when one is missing; kAccess without search permission.
Result<NodeRef> walk_directories(const VolumeView& volume, const OpContext& ctx, FileId root,
                                 std::span<const std::string_view> parts);

// Makes the missing directories, marked as implied by keys. `kept` is lowered to the number of parts that existed
// before. `multipart`: the directory made is that of this upload (PutKeyRequest).
Result<NodeRef> make_directories(VolumeContext& volume, const OpContext& ctx, FileId root,
                                 std::span<const std::string_view> parts, std::size_t* kept,
                                 const std::optional<MultipartOf>& multipart = {});

// Removes, bottom-up, the directories of the path behind the first `kept` parts that exist only because of keys and are
// empty now. Stops silently at the first that stays.
void prune_directories(VolumeContext& volume, const OpContext& ctx, FileId root,
                       std::span<const std::string_view> parts, std::size_t kept = 0);

}  // namespace stoa::core

// Giving content to a key: the common part of put_key and concatenate.
#pragma once

#include <functional>

#include "core/data/content.h"
#include "core/links/key_path.h"

namespace stoa::core {

struct PutObject {
  FileId root;
  std::string_view key;
  std::string_view meta{};
  std::uint32_t mode = 0644;
  std::optional<ObjectExpectation> expect{};
  std::optional<Timestamp> mtime{};
  std::optional<MultipartOf> multipart{};
  std::array<NodeRef, 2> also_locked{};  // locked together with the directory and the old object
  // More for the same transaction; runs with every lock held, before the object itself is staged.
  std::function<Status(MetaTxn&)> stage_more{};
};
// Replaced content is charged no longer, even while a reader still uses it: it cannot be written any more. So a
// directory with room for the old content and the difference can have it replaced at any time.
Result<PutKeyReply> put_object(VolumeContext& volume, const OpContext& ctx, const PutObject& put,
                               const StagedContent& content);

}  // namespace stoa::core

// Storing one part, however its bytes came.
#pragma once

#include "frontends/s3/op/staged_content.h"
#include "frontends/s3/op/uploads.h"

namespace stoa::s3 {

// kNoSuchUpload when the upload has ended meanwhile.
Outcome<void> store_part(const Call& call, const Upload& upload, std::uint32_t number, const ObjectRecord& record,
                         StagedContent& content);

}  // namespace stoa::s3

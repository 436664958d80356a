// The reference count of a blob: family blob. Changes are added to it (WriteBatch::add), so counting reads nothing.
// Zero, like no record: unused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/kv/number.h"

namespace stoa::core {

struct BlobRecord {
  std::int64_t references = 0;

  std::string encode() const { return encode_number(references); }
  static Result<BlobRecord> decode(std::string_view value) {
    STOA_TRY(references, decode_number(value));
    return BlobRecord{references};
  }
};

}  // namespace stoa::core

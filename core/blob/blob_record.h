// How many files use a blob: family blob.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/kv/codec.h"

namespace stoa::core {

struct BlobRecord {
  std::int64_t references = 0;

  std::string encode() const {
    Encoder out;
    out.put_varint(static_cast<std::uint64_t>(references));
    return seal(1, 1, out.bytes());
  }
  static Result<BlobRecord> decode(std::string_view value) {
    Decoder in(unseal(value, 1).body);
    BlobRecord record{static_cast<std::int64_t>(in.get_varint())};
    if (!in.ok()) return fail(Errc::kCorrupt, "blob record");
    return record;
  }
};

}  // namespace stoa::core

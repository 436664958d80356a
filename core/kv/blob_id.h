// The identity of a blob in records.
#pragma once

#include <cstdint>

namespace stoa::core {

// Names a blob for ever; the store encodes in it where the bytes are, so that no look-up is needed. 0 is none.
enum class BlobId : std::uint64_t {};
inline constexpr BlobId kNoBlob{0};

}  // namespace stoa::core

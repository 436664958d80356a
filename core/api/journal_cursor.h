// A place in the journal as clients store it: a string opaque to all but the core, so that it can carry more when a
// volume has several shards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/ids.h"

namespace stoa::core {

// "Behind the record of this sequence."
std::string encode_cursor(ShardId shard, std::uint64_t sequence);
// kInvalid: no cursor, or one of another shard.
Result<std::uint64_t> decode_cursor(ShardId shard, std::string_view text);

}  // namespace stoa::core

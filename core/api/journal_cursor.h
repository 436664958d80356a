// A place in the journal as clients keep it: a string that means something to the core alone, so that it can say more
// when a volume has several shards.
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

#include "core/api/journal_cursor.h"

#include <charconv>
#include <span>

#include "base/crc32c.h"

namespace stoa::core {
namespace {

// Hexadecimal: the version of this form, the shard, the sequence, and a checksum of these, so that a truncated or
// invented cursor is not taken for another place.
constexpr std::uint64_t kCursorVersion = 1;
constexpr std::size_t kVersionDigits = 2, kShardDigits = 4, kSequenceDigits = 16, kSumDigits = 4;
constexpr std::size_t kDigits = kVersionDigits + kShardDigits + kSequenceDigits + kSumDigits;

void put_hex(std::string& out, std::uint64_t value, std::size_t digits) {
  for (std::size_t i = digits; i-- > 0;) out += "0123456789abcdef"[value >> (4 * i) & 0xf];
}

std::uint64_t sum_of(std::string_view text) {
  return crc32c(std::as_bytes(std::span(text))) & 0xffff;
}

}  // namespace

std::string encode_cursor(ShardId shard, std::uint64_t sequence) {
  std::string out;
  out.reserve(kDigits);
  put_hex(out, kCursorVersion, kVersionDigits);
  put_hex(out, static_cast<std::uint64_t>(shard), kShardDigits);
  put_hex(out, sequence, kSequenceDigits);
  put_hex(out, sum_of(out), kSumDigits);
  return out;
}

Result<std::uint64_t> decode_cursor(ShardId shard, std::string_view text) {
  std::uint64_t sequence = 0;
  const std::size_t at = kVersionDigits + kShardDigits;
  if (text.size() == kDigits) {
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + kSequenceDigits, sequence, 16);
    // Written again, it must be the same: this also finds another version, shard or sum.
    if (error == std::errc{} && end == begin + kSequenceDigits && encode_cursor(shard, sequence) == text)
      return sequence;
  }
  return fail(Cause::kCursorForm);
}

}  // namespace stoa::core

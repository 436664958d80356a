// Numeric values that grow by WriteBatch::add() without being read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/kv/codec.h"

namespace stoa::core {

inline std::string encode_number(std::int64_t number) {
  Encoder out;
  out.put_varint(static_cast<std::uint64_t>(number));
  return encode_record(1, 1, out.bytes());
}

inline Result<std::int64_t> decode_number(std::string_view value) {
  Decoder in(decode_record(value, 1).body);
  const auto number = static_cast<std::int64_t>(in.get_varint());
  if (!in.ok()) return fail(Errc::kCorrupt, "a number is damaged");
  return number;
}

// The sum of a stored value, absent as zero, and one that is added to it; both may also be parts of a sum.
inline Result<std::string> add_numbers(std::optional<std::string_view> value, std::string_view added) {
  STOA_TRY(delta, decode_number(added));
  if (!value) return encode_number(delta);
  STOA_TRY(number, decode_number(*value));
  return encode_number(number + delta);
}

}  // namespace stoa::core

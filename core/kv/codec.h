// The encoding of values: little-endian integers and length-prefixed strings in an envelope {version, oldest reader,
// size}. A newer writer may append fields (old readers skip them by size) as long as it keeps `oldest reader`.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace stoa::core {

class Encoder {
 public:
  template <class Integer>
    requires std::is_integral_v<Integer> || std::is_enum_v<Integer>
  Encoder& put(Integer value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  // Seven bits a byte: small numbers take one byte.
  Encoder& put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Encoder& put_string(std::string_view text) {
    put_varint(text.size());
    bytes_.append(text);
    return *this;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

// Reads the output of Encoder. After any short read ok() is false and every later value is zero or empty.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  template <class Integer>
    requires std::is_integral_v<Integer> || std::is_enum_v<Integer>
  Integer get() {
    Integer value{};
    if (rest_.size() < sizeof value) {
      spoil();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::uint64_t get_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    spoil();
    return 0;
  }
  std::string_view get_string() {
    const std::uint64_t size = get_varint();
    if (size > rest_.size()) {
      spoil();
      return {};
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

 private:
  void spoil() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

// The envelope around a value: version u8, oldest reader u8, size u32 of the body.
inline std::string encode_record(std::uint8_t version, std::uint8_t oldest_reader, std::string_view body) {
  STOA_ASSERT(version > 0);
  STOA_ASSERT(oldest_reader > 0 && oldest_reader <= version);
  STOA_ASSERT(body.size() <= UINT32_MAX);
  Encoder out;
  out.bytes().reserve(body.size() + 6);
  out.put(version).put(oldest_reader).put(static_cast<std::uint32_t>(body.size()));
  out.bytes().append(body);
  return std::move(out.bytes());
}

struct Opened {
  std::uint8_t version = 0;  // 0: not readable by `reader`, or damaged
  std::string_view body{};
};
inline Opened decode_record(std::string_view value, std::uint8_t reader) {
  Decoder in(value);
  const auto version = in.get<std::uint8_t>();
  const auto oldest = in.get<std::uint8_t>();
  const auto size = in.get<std::uint32_t>();
  if (!in.ok() || oldest > reader || in.rest().size() != size) return {};
  return {version, in.rest()};
}

}  // namespace stoa::core

// External Data Representation (RFC 4506): big-endian words, padded to four bytes, over borrowed memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "frontends/wire/reply_buffer.h"

namespace stoa::rpc {

using wire::ReplyBuffer;

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

inline std::uint32_t load_be32(const std::byte* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return std::endian::native == std::endian::little ? __builtin_bswap32(word) : word;
}
inline void store_be32(std::byte* at, std::uint32_t value) {
  const std::uint32_t word = std::endian::native == std::endian::little ? __builtin_bswap32(value) : value;
  std::memcpy(at, &word, sizeof word);
}

inline std::array<std::byte, 4> be32(std::uint32_t value) {
  std::array<std::byte, 4> bytes;
  store_be32(bytes.data(), value);
  return bytes;
}

// Reads arguments. The first read that does not fit makes the reader fail for good, and every later read gives zero or
// nothing. So a decoder reads all its fields and asks ok() once. Allocates nothing; its values borrow the input.
class XdrReader {
 public:
  explicit XdrReader(std::span<const std::byte> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint32_t u32() {
    if (left() < 4) return reject();
    const std::uint32_t value = load_be32(at_);
    at_ += 4;
    return value;
  }
  std::uint64_t u64() {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }
  // RFC 4506 4.4: anything but 0 and 1 is an encoding error.
  bool boolean() {
    const std::uint32_t value = u32();
    if (value > 1) reject();
    return value == 1;
  }
  // opaque<max>: length, bytes, padding. Longer than `max` is an error.
  std::span<const std::byte> opaque(std::size_t max) {
    const std::uint32_t length = u32();
    if (!ok_ || length > max) {
      reject();
      return {};
    }
    return fixed(length);
  }
  std::string_view string(std::size_t max) {
    const auto bytes = opaque(max);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // opaque[length]
  std::span<const std::byte> fixed(std::size_t length) {
    if (left() < padded(length)) {
      reject();
      return {};
    }
    const std::span<const std::byte> value(at_, length);
    at_ += padded(length);
    return value;
  }

  std::uint32_t reject() {
    ok_ = false;
    at_ = end_;
    return 0;
  }
  bool ok() const { return ok_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  std::span<const std::byte> rest() const { return {at_, left()}; }

 private:
  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

// Appends to a reply buffer, which grows as needed.
class XdrWriter {
 public:
  explicit XdrWriter(ReplyBuffer& out) : out_(out) {}

  void u32(std::uint32_t value) { out_.append(be32(value)); }
  void u64(std::uint64_t value) {
    std::array<std::byte, 8> words;
    store_be32(words.data(), static_cast<std::uint32_t>(value >> 32));
    store_be32(words.data() + 4, static_cast<std::uint32_t>(value));
    out_.append(words);
  }
  void boolean(bool value) { u32(value ? 1 : 0); }
  void fixed(std::span<const std::byte> bytes) {
    out_.append(bytes);
    out_.append_zeros(padded(bytes.size()) - bytes.size());
  }
  void opaque(std::span<const std::byte> bytes) {
    u32(static_cast<std::uint32_t>(bytes.size()));
    fixed(bytes);
  }
  void string(std::string_view text) { opaque(std::as_bytes(std::span(text.data(), text.size()))); }

  // For data read straight into the reply: `head` bytes are written before it, once it is there.
  ReplyBuffer::Reservation reserve(std::size_t head, std::size_t most) { return {out_, head, most, 4}; }
  std::size_t size() const { return out_.size(); }
  std::span<const std::byte> written_since(std::size_t at) const { return out_.bytes().subspan(at); }
  void truncate(std::size_t size) { out_.truncate(size); }
  void patch_u32(std::size_t at, std::uint32_t value) { out_.overwrite(at, be32(value)); }

 private:
  ReplyBuffer& out_;
};

}  // namespace stoa::rpc
